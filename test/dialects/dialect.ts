// What the servers of the table say: the same few answers, each in the bytes of its own dialect.
import type { ProviderId } from "../../src/upstream/catalog.ts";

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** What one choice says, whatever the dialect. */
export interface Saying {
  readonly reasoning?: string;
  /** In pieces, which are its tokens. */
  readonly text?: readonly string[];
  readonly calls?: readonly Call[];
}

export interface Scene {
  readonly choices: readonly Saying[];
  readonly logprobs: boolean;
  /** The client has asked for the usage of a stream. */
  readonly usage: boolean;
}

export interface Dialect {
  readonly provider: ProviderId;
  /** Where it expects the request, with `{model}` for the model's name there. */
  readonly path: string;
  readonly keyHeader: string;
  /** Tells thoughts apart from the text. */
  readonly thinks: boolean;
  readonly stream: (scene: Scene) => string;
  readonly whole: (scene: Scene) => string;
  /** A refusal of what the client has asked for. */
  readonly refusal: { readonly status: number; readonly body: string };
  /** What a stream goes on with when the server fails in the middle of it. */
  readonly failure: string;
  /** What the client is told then; undefined: the stream just ends. */
  readonly failureWords: string | undefined;
}

export const MODEL = "served-model-7b";
export const REFUSAL = `temperature must be non-negative for ${MODEL}`;
export const FAILURE = "the engine has stopped";
export const PROMPT_TOKENS = 9;
export const ANSWER_TOKENS = 4;
export const CREATED = 1_790_000_000;

export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const DONE = "data: [DONE]\n\n";
/** Python's `json.dumps`. */
export const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/([{[]) | ([}\]])/g, "$1$2");

export const usage = (more: object = {}): object => ({
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: ANSWER_TOKENS,
  total_tokens: PROMPT_TOKENS + ANSWER_TOKENS,
  ...more,
});

/** The logprob of the token at a place. */
export const logprobAt = (at: number): number => -0.25 * (at + 1);
export const bytesOf = (token: string): number[] => [...new TextEncoder().encode(token)];

/** One token as OpenAI tells it, with one that was less likely. */
export const token = (text: string, at: number): object => ({
  token: text,
  logprob: logprobAt(at),
  bytes: bytesOf(text),
  top_logprobs: [
    { token: text, logprob: logprobAt(at), bytes: bytesOf(text) },
    { token: "Ho", logprob: -7, bytes: [72, 111] },
  ],
});

export const textOf = ({ text = [] }: Saying): string => text.join("");
export const halves = (text: string): [string, string] => [text.slice(0, 7), text.slice(7)];
