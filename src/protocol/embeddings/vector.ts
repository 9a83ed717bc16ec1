/** An embedding as base64: little-endian float32, one number after the other. Undefined: not all of them are finite numbers. */
export function encodeVector(numbers: readonly unknown[]): string | undefined {
  const bytes = new Uint8Array(numbers.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) {
    if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
    view.setFloat32(i * 4, number, true);
  }
  return toBase64(bytes);
}

/** The numbers of such a text. Undefined: it is not one. */
export function decodeVector(text: string): number[] | undefined {
  const bytes = fromBase64(text);
  if (bytes === undefined || bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer);
  const numbers = Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
  return numbers.every(Number.isFinite) ? numbers : undefined;
}

const STEP = 0x2000;

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += STEP) text += String.fromCharCode(...bytes.subarray(at, at + STEP));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text);
    return Uint8Array.from({ length: binary.length }, (_, i) => binary.charCodeAt(i));
  } catch {
    return undefined;
  }
}
