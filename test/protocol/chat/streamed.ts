import { createAnswerStream } from "../../../src/protocol/answer-stream.ts";
import { createConform } from "../../../src/protocol/chat/conform.ts";
import type { AnswerShape, Identity } from "../../../src/protocol/chat/types.ts";
import type { WireError } from "../../../src/protocol/errors.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { bytesOf } from "../sse/cut.ts";

export const SHAPE: AnswerShape = { n: 1, toolNames: [], namedTool: false, includeUsage: false };

export const identity = (): Identity => {
  let made = 0;
  return { created: 1_700_000_000, model: "asked-model", newId: (prefix) => `${prefix}made${++made}` };
};

export const HEAD = { id: "chatcmpl-u", object: "chat.completion.chunk", created: 5, model: "m" } as const;
export type Json = Readonly<Record<string, unknown>>;

/** A chunk with one choice, as a clean upstream sends it. */
export const chunk = (delta: unknown, finish: unknown = null, more: Json = {}): Json => ({
  ...HEAD,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish, ...more }],
});
export const choiceChunk = (index: number, delta: unknown, finish: unknown = null): Json => ({
  ...HEAD,
  choices: [{ index, delta, logprobs: null, finish_reason: finish }],
});
export const textChunk = (content: string): Json => chunk({ content });
export const STOP = chunk({}, "stop");
export const DONE = "[DONE]";
export const usageChunk = (usage: unknown): Json => ({ ...HEAD, choices: [], usage });
export const ROLE = { role: "assistant", content: "" };
/** A whole answer around some chunks. */
export const around = (...events: unknown[]): unknown[] => [chunk(ROLE), ...events, STOP, DONE];

/** Events as an upstream writes them: JSON values, or text that is not JSON. */
export const wire = (events: readonly unknown[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

export interface Streamed {
  readonly text: string;
  readonly chunks: readonly JsonObject[];
  readonly done: boolean;
  /** Code of the failure that ended the answer. */
  readonly failed: string | null | undefined;
  readonly error: WireError | undefined;
}

export interface StreamOptions {
  readonly shape?: Partial<AnswerShape>;
  readonly cut?: (bytes: Uint8Array) => readonly Uint8Array[];
  /** The body breaks off instead of ending. */
  readonly broken?: boolean;
  /** Every chunk is parsed: none is known by the look of it. */
  readonly parsed?: boolean;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What a client is sent for the bytes of an upstream, which is not read beyond the end of its answer. */
export function stream(
  text: string,
  { shape = {}, cut = (bytes) => [bytes], broken = false, parsed = false }: StreamOptions = {},
): Streamed {
  const options = { shape: { ...SHAPE, ...shape }, identity: identity() };
  const chat = createAnswerStream(
    (sink, runs) => createConform(parsed ? options : { ...options, runs }, sink),
    1_000_000,
  );
  const out: Uint8Array[] = [];
  const take = (bytes: Uint8Array | undefined): void => {
    if (bytes !== undefined) out.push(bytes.slice());
  };
  for (const part of cut(bytesOf(text))) {
    take(chat.feed(part));
    if (chat.state.outcome !== undefined) break;
  }
  const cutOff = { status: 502, error: { message: "cut", type: "upstream_error", param: null, code: "upstream_cut" } };
  if (chat.state.outcome === undefined) take(broken ? chat.fail({ error: cutOff }) : chat.end());
  const sent = out.map((bytes) => utf8.decode(bytes)).join("");
  const events = sent.split("\n\n").slice(0, -1);
  const done = events.at(-1) === "data: [DONE]";
  const { outcome } = chat.state;
  const error = outcome?.kind === "failed" ? outcome.failure.error.error : undefined;
  return {
    text: sent,
    chunks: events
      .slice(0, done ? -1 : undefined)
      .map((event) => JSON.parse(event.replace(/^data: /, "")) as JsonObject),
    done,
    failed: error?.code,
    error,
  };
}

export const streamOf = (events: readonly unknown[], options: StreamOptions = {}): Streamed =>
  stream(wire(events), options);

/** The choices of the chunks that left, each as [index, delta, finish_reason]. */
export const choicesOf = ({ chunks }: Streamed): (readonly [unknown, Json, unknown])[] =>
  chunks.flatMap(({ choices }) =>
    (choices as JsonObject[]).map(({ index, delta, finish_reason }) => [index, delta as Json, finish_reason] as const),
  );

/** The deltas of choice 0 and, last, its finish_reason. */
export const told = (streamed: Streamed): unknown[] => {
  const choices = streamed.chunks.flatMap(({ choices }) => choices as JsonObject[]);
  return choices.flatMap(({ delta, finish_reason }) => [
    ...(Object.keys(delta as JsonObject).length > 0 ? [delta] : []),
    ...(finish_reason === null ? [] : [finish_reason]),
  ]);
};
