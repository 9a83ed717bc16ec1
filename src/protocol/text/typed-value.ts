import { isObject } from "../json/lossless.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const FORMS: Readonly<Record<string, (text: string) => string | undefined>> = {
  null: (text) => (/^(?:null|none)$/i.test(text) ? "null" : undefined),
  integer: (text) => (/^-?(?:0|[1-9]\d*)$/.test(text) ? text : undefined),
  number: (text) => (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : undefined),
  boolean: (text) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined),
  object: (text) => (text.startsWith("{") && isJson(text) ? text : undefined),
  array: (text) => (text.startsWith("[") && isJson(text) ? text : undefined),
};

/**
 * A value that a model wrote without quotes, as JSON text: typed as the schema of its parameter wants it, a string if that does
 * not fit. Without a schema it is what it looks like.
 */
export function typedValue(text: string, schema: unknown): string {
  const types = typesOf(schema);
  const trimmed = text.trim();
  for (const [type, form] of Object.entries(FORMS)) {
    if (types !== undefined && !types.has(type)) continue;
    const value = form(trimmed);
    if (value !== undefined) return value;
  }
  return JSON.stringify(text);
}

/** The schema of one parameter, if the tool's schema says anything of it. */
export function parameterSchema(schema: unknown, name: string): unknown {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function typesOf(schema: unknown): ReadonlySet<string> | undefined {
  if (!isObject(schema)) return undefined;
  const { type } = schema;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one) => typeof one === "string"));
  for (const list of [schema["anyOf"], schema["oneOf"]]) {
    if (!Array.isArray(list)) continue;
    const sets = list.map(typesOf);
    return sets.includes(undefined) ? undefined : new Set(sets.flatMap((set) => [...(set ?? [])]));
  }
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : "const" in schema ? [schema["const"]] : [];
  if (values.length === 0) return undefined;
  return new Set(values.map((value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)));
}

/** The text of a JSON object with these members, each value JSON text already. */
export function objectText(members: Iterable<readonly [string, string]>): string {
  return `{${[...new Map(members)].map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(", ")}}`;
}
