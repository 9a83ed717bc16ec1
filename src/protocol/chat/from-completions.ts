import { MAX_ANSWER_BYTES, MAX_EVENT_BYTES, type AnswerForm } from "../answer-form.ts";
import { createAnswerGather } from "../answer-gather.ts";
import { createAnswerStream } from "../answer-stream.ts";
import { isObject, parseLossless, parseTolerant, withoutNonFinite, type JsonObject } from "../json/lossless.ts";
import type { ServerSentEvent } from "../sse/decode.ts";
import { createAggregate } from "./aggregate.ts";
import { createConform, type ChunkSink, type Conform } from "./conform.ts";
import { chatForm } from "./form.ts";
import { logprobsOfText } from "./text-logprobs.ts";
import type { AnswerShape, Identity } from "./types.ts";

/**
 * The answers of `/completions` to a chat that was sent as a prompt, told as answers of a chat. A choice with a `text` is read like any
 * other odd delta; only logprobs have a form of their own there.
 * @param topLogprobs how many alternatives of each token the client wants; undefined: no logprobs
 */
export function chatFromCompletions(shape: AnswerShape, topLogprobs: number | undefined): AnswerForm {
  const form = chatForm(shape);
  if (topLogprobs === undefined) return form;
  const told = (text: string): string => withChatLogprobs(text, topLogprobs);
  const create =
    (identity: Identity) =>
    (sink: ChunkSink): Conform =>
      reading(createConform({ shape, identity }, sink), told);
  return {
    ...form,
    stream: (identity) => createAnswerStream(create(identity), MAX_EVENT_BYTES),
    gather: (identity) => createAnswerGather(create(identity), createAggregate(), MAX_EVENT_BYTES, MAX_ANSWER_BYTES),
    whole: (text, identity) => form.whole(told(text), identity),
  };
}

/** The same, but that it reads other events than come in. */
function reading(conform: Conform, told: (data: string) => string): Conform {
  return {
    seen: conform.seen,
    get answered() {
      return conform.answered;
    },
    get finished() {
      return conform.finished;
    },
    get progress() {
      return conform.progress;
    },
    get outcome() {
      return conform.outcome;
    },
    usage: () => conform.usage(),
    takeRun: (_text, at) => at,
    take: (event: ServerSentEvent) => conform.take({ ...event, data: told(event.data) }),
    end: () => conform.end(),
    fail: (failure) => conform.fail(failure),
  };
}

/** JSON of an answer or a chunk of one, with the logprobs of its choices as a chat has them; anything else as it is. */
function withChatLogprobs(text: string, top: number): string {
  const parsed = parseTolerant(text);
  if (parsed === undefined || !isObject(parsed.value) || !Array.isArray(parsed.value["choices"])) return text;
  const body = parseLossless(parsed.legal ? text : withoutNonFinite(text)) as JsonObject & { choices: unknown[] };
  const choices = body.choices.map((choice) =>
    isObject(choice) ? { ...choice, logprobs: logprobsOfText(choice["logprobs"], top) } : choice,
  );
  return JSON.stringify({ ...body, choices });
}
