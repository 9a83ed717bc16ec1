// Plain values are compared, objects by their listed members; {any}, {not}, {re}, {absent} and {fill, n} are tests.
import { isObject, isString } from "./json.ts";
import type { Status } from "./cases.ts";

export function matches(want: unknown, got: unknown): boolean {
  if (Array.isArray(want)) {
    return Array.isArray(got) && got.length === want.length && want.every((one, i) => matches(one, got[i]));
  }
  if (!isObject(want)) return Object.is(want, got);
  if (Array.isArray(want["any"])) return want["any"].some((one) => matches(one, got));
  if (want["not"] !== undefined) return !matches(want["not"], got);
  if (isString(want["re"])) return isString(got) && new RegExp(want["re"], "s").test(got);
  if (want["absent"]) return got === undefined;
  if (isString(want["fill"])) return got === want["fill"].repeat(Number(want["n"]));
  return isObject(got) && Object.entries(want).every(([key, member]) => matches(member, got[key]));
}

/** All values at a dotted path; `*` stands for every element. */
export function valuesAt(value: unknown, path: string): unknown[] {
  return path.split(".").reduce<unknown[]>((found, step) => found.flatMap((one) => membersAt(one, step)), [value]);
}

function membersAt(value: unknown, step: string): unknown[] {
  if (value === null || typeof value !== "object") return [];
  if (step === "*") return Object.values(value);
  return Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
}

export const valueAt = (value: unknown, path: string): unknown => valuesAt(value, path)[0];

export const statusFits = (want: Status, got: number): boolean =>
  [want].flat().some((one) => one === got || one === `${Math.floor(got / 100)}xx`);
