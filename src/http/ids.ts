let isolate: string | undefined;
let count = 0;

/**
 * An id that nobody else has: 128 random bits for the isolate, and a count. A UUID for each would cost a small request as much as
 * reading its headers does. Ids name things; they open nothing, so it does no harm that the next one can be guessed.
 */
export function newId(prefix: string): string {
  isolate ??= crypto.randomUUID().replaceAll("-", "");
  count += 1;
  return `${prefix}${isolate}${count.toString(36)}`;
}
