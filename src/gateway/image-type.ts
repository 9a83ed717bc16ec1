/** What begins like this is an image of that type, whatever it is called; `null` stands for any byte. */
const SIGNATURES: readonly (readonly [type: string, signature: readonly (number | null)[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
];

export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const fits = (signature: readonly (number | null)[]): boolean =>
    signature.every((byte, at) => byte === null || bytes[at] === byte);
  return SIGNATURES.find(([, signature]) => fits(signature))?.[0];
}

// A multiple of three, so that the pieces can be put together; small enough to be the arguments of one call.
const PIECE = 3 * 8192;

export function toDataUrl(type: string, bytes: Uint8Array): string {
  let base64 = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    base64 += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  return `data:${type};base64,${base64}`;
}
