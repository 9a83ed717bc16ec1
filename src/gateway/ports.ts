/** What the use cases need from the world: made by `app.ts` out of bindings, by tests out of nothing. */
export interface Ports {
  /** Milliseconds since 1970. */
  now(): number;
  /** A fresh id with this prefix. */
  newId(prefix: string): string;
  /** The value of a secret, by its name. */
  secretOf(name: string): string | undefined;
  /** The `fetch` of a binding; undefined when there is no such binding. Without a name: the global one. */
  fetcherOf(binding: string | undefined): Fetch | undefined;
  /** Keeps the request's context alive until the promise has settled, also when the client has left. */
  waitUntil(promise: Promise<unknown>): void;
  /** One line of log. Takes codes, names and numbers; never a text of a client or an upstream. */
  log(event: string, details: Readonly<Record<string, string | number>>): void;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
