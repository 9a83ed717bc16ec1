/** What a kind of API can do; an operator may say otherwise for an upstream or a target. */
export interface Capabilities {
  /** Answers `stream: true` with a stream. */
  readonly streaming: boolean;
  /** ... also when the request has tools. */
  readonly streaming_with_tools: boolean;
}

/** A kind of API, as data. The code that serves a request never asks for its name. */
export interface Provider {
  readonly id: string;
  /** The header that carries the credential, and what stands before it. */
  readonly auth: { readonly header: string; readonly prefix: string };
  readonly capabilities: Capabilities;
}

export const BEARER: Provider["auth"] = { header: "authorization", prefix: "Bearer " };
