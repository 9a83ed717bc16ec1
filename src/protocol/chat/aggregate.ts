import { MAX_ANSWER_BYTES, MAX_EVENT_BYTES, type AnswerGather } from "../answer-form.ts";
import { createAnswerGather, type Aggregate } from "../answer-gather.ts";
import { joinLists, joinTexts, put } from "../json/join.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import { createConform, type ChunkSink, type Conform, type ConformOptions } from "./conform.ts";

interface Gathered {
  readonly index: number;
  readonly message: JsonObject;
  readonly calls: JsonObject[];
  readonly choice: JsonObject;
  logprobs: JsonObject | null;
}

const OWN_CHOICE: ReadonlySet<string> = new Set(["index", "delta", "logprobs"]);
const OWN_CHUNK: ReadonlySet<string> = new Set(["choices", "usage", "object"]);
// Texts that are told in pieces.
const APPENDED: ReadonlySet<string> = new Set(["content", "refusal", "reasoning", "reasoning_content"]);
const AUDIO_TEXTS: ReadonlySet<string> = new Set(["data", "transcript"]);

export function createAggregate(): Aggregate {
  const choices = new Map<number, Gathered>();
  const head = new Map<string, unknown>();

  const add = (chunk: JsonObject): void => {
    for (const [key, value] of Object.entries(chunk)) {
      if (!OWN_CHUNK.has(key) && (!head.has(key) || (value !== null && value !== undefined))) head.set(key, value);
    }
    for (const wire of chunk["choices"] as JsonObject[]) {
      const index = wire["index"] as number;
      let gathered = choices.get(index);
      if (gathered === undefined) {
        gathered = {
          index,
          message: { role: "assistant", content: null, refusal: null },
          calls: [],
          choice: {},
          logprobs: null,
        };
        choices.set(index, gathered);
      }
      addChoice(gathered, wire);
    }
  };

  return {
    unchanged: (_data, chunk): void => add(chunk),
    changed: add,
    completion(conform): JsonObject {
      const usage = conform.usage();
      const { id, created, model, ...vendor } = Object.fromEntries(head);
      return {
        id: conform.seen.id ?? id,
        object: "chat.completion",
        created: conform.seen.created ?? created,
        model: conform.seen.model ?? model,
        choices: [...choices.values()].sort((a, b) => a.index - b.index).map(choiceOf),
        ...vendor,
        ...(usage === undefined ? {} : { usage }),
      };
    },
  };
}

function addChoice(gathered: Gathered, wire: JsonObject): void {
  for (const [key, value] of Object.entries(wire)) {
    if (OWN_CHOICE.has(key) || (value === null && gathered.choice[key] !== undefined)) continue;
    put(gathered.choice, key, value);
  }
  if (isObject(wire["logprobs"])) gathered.logprobs = joinLists(gathered.logprobs ?? NO_LOGPROBS, wire["logprobs"]);
  const delta = wire["delta"] as JsonObject;
  const { message } = gathered;
  for (const [key, value] of Object.entries(delta)) {
    if (value === null || key === "role") continue;
    if (key === "tool_calls") for (const call of value as JsonObject[]) addCall(gathered.calls, call);
    else if (key === "function_call") message[key] = joinTexts(message[key], value as JsonObject, CALL_TEXTS);
    else if (key === "audio" && isObject(value)) message[key] = joinTexts(message[key], value, AUDIO_TEXTS);
    else if (APPENDED.has(key)) message[key] = `${(message[key] as string | null | undefined) ?? ""}${value as string}`;
    else put(message, key, value);
  }
}

const NO_LOGPROBS = { content: null, refusal: null };
const CALL_TEXTS: ReadonlySet<string> = new Set(["arguments"]);

function addCall(calls: JsonObject[], delta: JsonObject): void {
  const at = delta["index"] as number;
  const { index: _index, ...rest } = delta;
  const call = calls[at];
  if (call === undefined) {
    const type = delta["type"] as string;
    const body = delta[type] as JsonObject;
    calls[at] = { ...rest, [type]: type === "custom" ? { input: "", ...body } : { arguments: "", ...body } };
    return;
  }
  const body = call[call["type"] as string] as JsonObject;
  const more = delta[call["type"] as string] as JsonObject;
  const key = call["type"] === "custom" ? "input" : "arguments";
  body[key] = `${body[key] as string}${(more[key] as string | undefined) ?? ""}`;
}

function choiceOf({ index, message, calls, choice, logprobs }: Gathered): JsonObject {
  const { content } = message;
  // OpenAI's answer to a call alone has no content; servers that stream an empty one mean the same.
  const silent = calls.length > 0 || message["function_call"] !== undefined || isText(message["refusal"]);
  const spokeElsewhere =
    silent || [message["audio"], message["reasoning"], message["reasoning_content"]].some((said) => said !== undefined);
  return {
    index,
    message: {
      ...message,
      content: content === "" && silent ? null : content === null && !spokeElsewhere ? "" : content,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    logprobs,
    ...choice,
  };
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

export function createChatGather(
  options: Omit<ConformOptions, "runs">,
  maxEventBytes: number = MAX_EVENT_BYTES,
  maxBytes: number = MAX_ANSWER_BYTES,
): AnswerGather {
  const create = (sink: ChunkSink): Conform => createConform(options, sink);
  return createAnswerGather(create, createAggregate(), maxEventBytes, maxBytes);
}
