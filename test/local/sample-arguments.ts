/** Whether a value is an object that is no array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const samples: Readonly<Record<string, unknown>> = {
  string: "text",
  integer: 1,
  number: 1.5,
  boolean: true,
  null: null,
};

/** A value that fits a JSON schema, always the same one. References (`$ref`) are not followed. */
export function argumentsFor(schema: unknown): unknown {
  if (!isRecord(schema)) return {};
  if ("const" in schema) return schema["const"];
  for (const list of ["enum", "examples"]) {
    const values = schema[list];
    if (Array.isArray(values) && values.length > 0) return values[0];
  }
  if ("default" in schema) return schema["default"];
  for (const list of ["anyOf", "oneOf"]) {
    const branches = schema[list];
    if (Array.isArray(branches) && branches.length > 0) return argumentsFor(branches[0]);
  }
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "array") return "items" in schema ? [argumentsFor(schema["items"])] : [];
  if (typeof type === "string" && type in samples) return samples[type];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, argumentsFor(property)]));
}
