import fc from "fast-check";

const utf8 = new TextEncoder();

export const bytesOf = (text: string): Uint8Array => utf8.encode(text);

/** Every way to cut a text in two, by bytes; the halves are copies, so that a decoder cannot lean on its input. */
export function* twoWaySplits(bytes: Uint8Array): Generator<readonly Uint8Array[]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.slice(0, at), bytes.slice(at)];
}

export const bytewise = (bytes: Uint8Array): Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte));

/** Cuts at the given places, each taken modulo the length. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, i) => bytes.slice(from, cuts[i] ?? bytes.length));
}

export const anyCuts: fc.Arbitrary<number[]> = fc.array(fc.nat(100_000), { maxLength: 12 });
export const anyLineEnd: fc.Arbitrary<string> = fc.constantFrom("\n", "\r\n", "\r");
