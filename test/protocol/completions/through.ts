import { textForm } from "../../../src/protocol/completions/form.ts";
import type { TextShape } from "../../../src/protocol/completions/types.ts";
import type { AnswerForm, AnswerStream } from "../../../src/protocol/answer-form.ts";
import type { Identity } from "../../../src/protocol/chat/types.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { encodeEvent } from "../../../src/protocol/sse/encode.ts";

export const ONE: TextShape = { choices: 1, includeUsage: false };

export const identity = (): Identity => {
  let made = 0;
  return { created: 1_700_000_000, model: "asked-model", newId: (prefix) => `${prefix}made${++made}` };
};

export const HEAD = { id: "cmpl-u", object: "text_completion", created: 5, model: "m" } as const;

/** A chunk with one choice, as a clean upstream sends it. */
export const chunk = (text: unknown, finish: unknown = null, more: object = {}): object => ({
  ...HEAD,
  choices: [{ index: 0, text, logprobs: null, finish_reason: finish, ...more }],
});
export const usageChunk = (usage: object): object => ({ ...HEAD, choices: [], usage });

/** Events as an upstream writes them: JSON values, or text that is not JSON. */
export const wire = (...events: readonly unknown[]): string =>
  events.map((event) => encodeEvent(typeof event === "string" ? event : JSON.stringify(event))).join("");

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What a client is sent for reads of an upstream, with the error event at its end where there is one. */
export function streamed(stream: AnswerStream, reads: Iterable<Uint8Array>, broken = false): string {
  let out = "";
  const take = (bytes: Uint8Array | undefined): void => {
    if (bytes !== undefined) out += utf8.decode(bytes);
  };
  for (const bytes of reads) {
    take(stream.feed(bytes));
    if (stream.state.outcome !== undefined) break;
  }
  const cut = { status: 502, error: { message: "cut", type: "upstream_error", param: null, code: "upstream_cut" } };
  if (stream.state.outcome === undefined) take(broken ? stream.fail({ error: cut }) : stream.end());
  const { outcome } = stream.state;
  return outcome?.kind === "failed" ? out + wire({ error: outcome.failure.error.error }) : out;
}

export const streamOf = (
  text: string,
  shape: Partial<TextShape> = {},
  cut: (bytes: Uint8Array) => Iterable<Uint8Array> = (bytes) => [bytes],
): string => streamed(textForm({ ...ONE, ...shape }).stream(identity()), cut(new TextEncoder().encode(text)));

/** The JSON answer for the same; of a failure its code. */
export function gatherOf(
  text: string,
  shape: Partial<TextShape> = {},
  form: AnswerForm = textForm({ ...ONE, ...shape }),
): JsonObject | string | null {
  const gather = form.gather(identity());
  gather.feed(new TextEncoder().encode(text));
  const result = gather.end();
  return result.ok ? (JSON.parse(JSON.stringify(result.value)) as JsonObject) : result.error.error.error.code;
}
