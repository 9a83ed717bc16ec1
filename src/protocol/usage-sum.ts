import { isObject, type JsonObject } from "./json/lossless.ts";

/** The usages of several answers as that of one; undefined if one of them is not known, since nobody has measured the whole then. */
export function sumOfUsages(usages: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const [first, ...rest] = usages;
  if (first === undefined) return undefined;
  let sum = first;
  for (const usage of rest) {
    if (usage === undefined) return undefined;
    sum = added(sum, usage);
  }
  return sum;
}

function added(a: JsonObject, b: JsonObject): JsonObject {
  const entries = [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key): [string, unknown] => {
    const [x, y] = [a[key], b[key]];
    if (typeof x === "number" && typeof y === "number") return [key, x + y];
    return [key, isObject(x) && isObject(y) ? added(x, y) : (y ?? x)];
  });
  return Object.fromEntries(entries);
}
