import { isObject, type JsonObject } from "./lossless.ts";

/**
 * What is not OpenAI's: lists go on (`token_ids`, `reasoning_details`), of anything else the last value counts. As an own property,
 * also one called `__proto__`.
 */
export function put(target: JsonObject, key: string, value: unknown): void {
  const before = Object.hasOwn(target, key) ? target[key] : undefined;
  const joined = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  Object.defineProperty(target, key, { value: joined, enumerable: true, writable: true, configurable: true });
}

/** Two objects as one: the texts of the named members go on. */
export function joinTexts(before: unknown, more: JsonObject, texts: ReadonlySet<string>): JsonObject {
  const joined: JsonObject = isObject(before) ? { ...before } : {};
  for (const [key, value] of Object.entries(more)) {
    const old = joined[key];
    put(joined, key, texts.has(key) && typeof old === "string" && typeof value === "string" ? old + value : value);
  }
  return joined;
}

/** Two objects as one: their lists go on. */
export function joinLists(before: JsonObject, more: JsonObject): JsonObject {
  const joined: JsonObject = { ...before };
  for (const [key, value] of Object.entries(more)) {
    if (value !== null || joined[key] === undefined) put(joined, key, value);
  }
  return joined;
}
