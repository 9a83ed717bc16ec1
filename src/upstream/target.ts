import type { Capabilities, Endpoint, Provider } from "./provider.ts";

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

/** What the text of a model is read for; `none` leaves it alone, `auto` goes by the model's name. */
export interface TextDialect {
  /** The family of tool calls written as text. */
  readonly tools: string;
  /** The family of thoughts written as text. */
  readonly reasoning: string;
}

/** One upstream and the model name there: what one attempt is made to. */
export interface Target {
  readonly upstream: string;
  readonly provider: Provider;
  readonly baseUrl: string;
  /** The URL of an endpoint (`/chat/completions`) at this upstream. @param model the name there, where a URL may have it in it */
  readonly urlOf: (endpoint: string, model?: string) => string;
  /** The model name to ask for; undefined passes the requested one. */
  readonly model: string | undefined;
  /** The NAME of the secret, never its value. */
  readonly credential: string | undefined;
  readonly headers: Readonly<Record<string, string | { readonly secret: string }>>;
  /** The name of a service or VPC binding that reaches the upstream, or of an AI binding. */
  readonly binding: string | undefined;
  readonly preferStream: boolean;
  readonly deadlines: Deadlines;
  readonly capabilities: Capabilities;
  readonly text: TextDialect;
  /** `none`, the name of a built-in chat template, or the Jinja text of one: the chat is rendered here and sent as a prompt. */
  readonly template: string;
  /** What happens to a member that the upstream cannot honour although it would change the answer. */
  readonly unsupported: "refuse" | "drop";
  /** Hosts whose images may be fetched; undefined: all public ones. */
  readonly imageHosts: readonly string[] | undefined;
}

/** The host as it may show up in an upstream's messages. */
export const hostOf = (target: Target): string => new URL(target.baseUrl).host;

export const serves = ({ provider }: Target, endpoint: Endpoint): boolean => provider.endpoints.includes(endpoint);
