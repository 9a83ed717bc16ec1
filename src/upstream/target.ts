import type { Capabilities, Provider } from "./provider.ts";

/** Limits in milliseconds, by the names an operator gives them in. */
export interface Deadlines {
  /** A stream: from the request to the first event that carries an answer. */
  readonly first_event_ms: number;
  /** Between two events, or between two reads of a body that has begun. */
  readonly idle_ms: number;
  /** A whole JSON answer, from the request to its last byte. */
  readonly total_ms: number;
  /** How long a client waits without a byte before it is sent a comment. */
  readonly keep_alive_ms: number;
}

/** One upstream and the model name there: what one attempt is made to. */
export interface Target {
  readonly upstream: string;
  readonly provider: Provider;
  readonly baseUrl: string;
  /** The URL of an endpoint (`/chat/completions`) at this upstream. */
  readonly urlOf: (endpoint: string) => string;
  /** The model name to ask for; undefined passes the requested one. */
  readonly model: string | undefined;
  /** The NAME of the secret, never its value. */
  readonly credential: string | undefined;
  readonly headers: Readonly<Record<string, string | { readonly secret: string }>>;
  /** The name of a service or VPC binding that reaches the upstream. */
  readonly binding: string | undefined;
  readonly preferStream: boolean;
  readonly deadlines: Deadlines;
  readonly capabilities: Capabilities;
}

/** The host as it may show up in an upstream's messages. */
export const hostOf = (target: Target): string => new URL(target.baseUrl).host;
