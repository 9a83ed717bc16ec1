/** One line of JSON. Callers give codes, names and numbers, never a text that a client or an upstream wrote. */
export function log(event: string, details: Readonly<Record<string, string | number>>): void {
  console.warn(JSON.stringify({ event, ...details }));
}
