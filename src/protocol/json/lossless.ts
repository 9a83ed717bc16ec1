/**
 * JSON whose numbers keep their spelling. `JSON.parse` turns 9007199254740993 into another number and 1.50 into 1.5; an answer
 * or a tool argument that has to be written anew must not change a digit, so such numbers are kept as raw JSON
 * (https://github.com/tc39/proposal-json-parse-with-source).
 */
declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

export interface RawNumber {
  readonly rawJSON: string;
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

const keepSpelling: Reviver = (_key, value, context) =>
  typeof value === "number" && context?.source !== undefined && context.source !== String(value)
    ? JSON.rawJSON(context.source)
    : value;

// Numbers whose spelling JSON.parse may not give back: long ones, tiny ones, those that end in a zero after the point, exponents, -0.
const MAY_CHANGE = /[\d.]{16}|0\.000000|\.\d*0[\s,\]}]|\d[eE][+-]?\d+[\s,\]}]|[:,[]\s*-0/;

/** Whether writing a JSON text anew from its parsed value could change a number. */
export const mayChange = (text: string): boolean => MAY_CHANGE.test(text);

/** Parses JSON so that `JSON.stringify` writes every number as it was read. Throws SyntaxError like `JSON.parse`. */
export function parseLossless(text: string): unknown {
  if (!mayChange(text)) return JSON.parse(text);
  return JSON.parse(text, keepSpelling as (key: string, value: unknown) => unknown);
}

/** The digits of a number as they were written; undefined for anything else. */
export function digitsOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

// Python's json module writes these three words where a logprob is not finite. Inside a string they are text.
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN)\b/g;
const LEGAL = new Map([
  ["-Infinity", "-9999.0"],
  ["Infinity", "9999.0"],
]);

/** Text of the JSON dialect that has NaN and Infinity, as legal JSON: -Infinity is -9999.0 (as vLLM clamps it), NaN is null. */
export function withoutNonFinite(text: string): string {
  return text.replace(STRING_OR_NON_FINITE, (match) => (match[0] === '"' ? match : (LEGAL.get(match) ?? "null")));
}

/** Parses JSON, in the second try also the dialect with NaN. `legal` says whether the text can leave as it is. */
export function parseTolerant(text: string): { readonly value: unknown; readonly legal: boolean } | undefined {
  try {
    return { value: JSON.parse(text) as unknown, legal: true };
  } catch {
    if (!/Infinity|NaN/.test(text)) return undefined;
  }
  try {
    return { value: JSON.parse(withoutNonFinite(text)) as unknown, legal: false };
  } catch {
    return undefined;
  }
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** How deep a value may nest that is to be written anew: `JSON.stringify` recurses. */
export const MAX_DEPTH = 500;

/** Whether a value nests deeper than `limit` levels. Walks values, not characters, so a long string costs nothing. */
export function deeperThan(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    const next: unknown[] = [];
    for (const parent of level) {
      if (typeof parent !== "object" || parent === null) continue;
      for (const child of Array.isArray(parent) ? parent : Object.values(parent)) {
        if (typeof child === "object" && child !== null) next.push(child);
      }
    }
    level = next;
  }
  return false;
}
