/** Values by model name: an exact name comes first, then the longest beginning (`llama-*`, `*`). */
export interface Patterns<T> {
  find(name: string): T | undefined;
  /** The names without a `*`. */
  readonly exact: readonly string[];
  /** What the names with a `*` stand for. */
  readonly open: readonly T[];
}

export function createPatterns<T>(entries: readonly (readonly [string, T])[]): Patterns<T> {
  const exact = new Map(entries.filter(([name]) => !name.endsWith("*")));
  const prefixes = entries
    .filter(([name]) => name.endsWith("*"))
    .map(([name, value]) => ({ prefix: name.slice(0, -1), value }))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  return {
    find: (name): T | undefined => exact.get(name) ?? prefixes.find(({ prefix }) => name.startsWith(prefix))?.value,
    exact: [...exact.keys()],
    open: prefixes.map(({ value }) => value),
  };
}
