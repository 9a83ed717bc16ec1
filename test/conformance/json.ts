export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);

export const isString = (value: unknown): value is string => typeof value === "string";

export const isFilled = (value: unknown): value is string => isString(value) && value !== "";

export const isInteger = (value: unknown): value is number => Number.isInteger(value);

/** The member if `value` is an object that has it. */
export const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** JSON text for messages, cut to a readable length. */
export const show = (value: unknown, limit = 160): string => (JSON.stringify(value) ?? "undefined").slice(0, limit);

export const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value) ? Object.entries(value) : [];
