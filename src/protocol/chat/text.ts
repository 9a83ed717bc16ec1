import { digitsOf, isObject } from "../json/lossless.ts";

/**
 * The text of a `content`, `reasoning` or `refusal`, whatever form an upstream gives it: a string, a number (its digits), a
 * text block (`{type:"text",text}`, `{text:{value}}`), or a list of those and of strings. Null: there is no text in it.
 */
export function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((part) => textOf(part) ?? "").join("");
  if (isObject(value)) {
    if (typeof value["text"] === "string") return value["text"];
    const inner = value["text"];
    return isObject(inner) && typeof inner["value"] === "string" ? inner["value"] : null;
  }
  return digitsOf(value) ?? null;
}

export const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Whether a text begins or ends with half a character: JSON escapes let an upstream cut one in two. */
export function hasHalfCharacter(text: string): boolean {
  return isHighSurrogate(text.charCodeAt(text.length - 1)) || isLowSurrogate(text.charCodeAt(0));
}

/** Cuts a text into pieces of at most `size` UTF-16 units, never through a character. */
export function pieces(text: string, size: number): string[] {
  const list: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + size, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += end - at === 1 ? 1 : -1;
    list.push(text.slice(at, end));
    at = end;
  }
  return list;
}
