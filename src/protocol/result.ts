/** What a function gives back that can fail in an expected way. Exceptions are left to bugs. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });

/** Ends an exhaustive `switch`: a new member of the union fails the build here. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected member of a union: ${typeof value}`);
}
