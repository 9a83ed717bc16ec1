// What a strict OpenAI client accepts: THE checker of answers, on bytes alone. README.md lists the rules.
import { parseEventStream, type StreamEvent } from "./event-stream.ts";
import { at, isFilled, isInteger, isObject, isString, listOf, show } from "./json.ts";
import { answerOfChunks, answerOfCompletion, type LogicalAnswer } from "./logical-answer.ts";
import { StreamRules } from "./stream-rules.ts";

export const RULES = [
  "transport",
  "content-type",
  "lf-only",
  "utf8",
  "sse-field",
  "unterminated",
  "plain-lines",
  "data-json",
  "error-shape",
  "envelope",
  "chunk-shape",
  "constant",
  "role",
  "delta-null",
  "finish",
  "after-finish",
  "tool-delta",
  "tool-order",
  "tool-calls",
  "usage-place",
  "usage",
  "one-done",
  "after-done",
  "done-after-error",
  "after-error",
  "open-end",
  "completion-shape",
] as const;
export type Rule = (typeof RULES)[number];

export interface Problem {
  readonly rule: Rule;
  readonly message: string;
}

export interface AnswerOptions {
  /** Legacy completions instead of chat. */
  readonly legacy?: boolean;
  /** The client asked for usage in the stream. */
  readonly includeUsage?: boolean;
}

export interface StreamReading {
  readonly form: "stream";
  readonly problems: readonly Problem[];
  readonly events: readonly StreamEvent[];
  readonly fields: ReadonlySet<string>;
  readonly comments: number;
  readonly chunks: readonly unknown[];
  readonly error: unknown;
  /** `[DONE]` was seen. */
  readonly ended: boolean;
  /** Offset behind the first event with text. */
  readonly firstTextEnd: number | undefined;
  readonly answer: LogicalAnswer;
}

export interface CompletionReading {
  readonly form: "json";
  readonly problems: readonly Problem[];
  readonly body: unknown;
  readonly answer: LogicalAnswer;
}

export interface ErrorReading {
  readonly form: "error";
  readonly problems: readonly Problem[];
  readonly body: unknown;
  readonly error: unknown;
}

export const FINISH_REASONS: readonly unknown[] = ["stop", "length", "tool_calls", "content_filter", "function_call"];

const isTextOrNull = (value: unknown): boolean => value === null || isString(value);

/** Why this is no OpenAI error object. */
export function faultOfError(error: unknown): string | undefined {
  if (!isObject(error)) return "error is not an object";
  for (const key of ["message", "type"]) if (!isString(error[key])) return `error.${key} is not a string`;
  for (const key of ["param", "code"]) if (!isTextOrNull(error[key])) return `error.${key} is not string|null`;
  return undefined;
}

export const isUsage = (usage: unknown): boolean =>
  ["prompt_tokens", "completion_tokens", "total_tokens"].every((key) => isInteger(at(usage, key)));

class Problems {
  readonly list: Problem[] = [];

  readonly say = (rule: Rule, message: string): void => {
    if (!this.list.some((known) => known.rule === rule && known.message === message)) this.list.push({ rule, message });
  };
}

export function readStream(bytes: Uint8Array, options: AnswerOptions = {}): StreamReading {
  const found = new Problems();
  const { events, problems, fields, comments } = parseEventStream(bytes);
  for (const { rule, message } of problems) found.say(rule, message);
  for (const field of fields) if (field !== "data") found.say("plain-lines", `only "data: " lines are due: ${field}`);
  if (events.some((event) => event.lines > 1)) found.say("plain-lines", "an event of several data lines");

  const rules = new StreamRules(options, found.say);
  let firstTextEnd: number | undefined;
  for (const event of events) {
    rules.read(event.data);
    const hasText = (choice: unknown): boolean => isFilled(at(at(choice, "delta"), "content") ?? at(choice, "text"));
    if (firstTextEnd === undefined && listOf(at(rules.chunks.at(-1), "choices")).some(hasText))
      firstTextEnd = event.end;
  }
  rules.close();
  const { chunks, error, ended } = rules;
  const answer = answerOfChunks(chunks);
  return { form: "stream", problems: found.list, events, fields, comments, chunks, error, ended, firstTextEnd, answer };
}

export function readCompletion(bytes: Uint8Array, options: AnswerOptions = {}): CompletionReading {
  const { list, say } = new Problems();
  const text = new TextDecoder().decode(bytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    say("completion-shape", `not one JSON document: ${show(text)}`);
    return { form: "json", problems: list, body, answer: answerOfCompletion(body) };
  }
  checkCompletion(body, options.legacy ?? false, say);
  return { form: "json", problems: list, body, answer: answerOfCompletion(body) };
}

function checkCompletion(body: unknown, legacy: boolean, say: Problems["say"]): void {
  const { id, object, created, model, choices, usage } = isObject(body) ? body : {};
  if (
    object !== (legacy ? "text_completion" : "chat.completion") ||
    !isFilled(id) ||
    !isInteger(created) ||
    !isFilled(model)
  ) {
    say("completion-shape", `id, object, created, model: ${show([id, object, created, model])}`);
  }
  if (!listOf(choices).length) say("completion-shape", "choices is not a non-empty array");
  for (const choice of listOf(choices)) {
    const finish = at(choice, "finish_reason");
    if (!isInteger(at(choice, "index"))) say("completion-shape", "choice without integer index");
    if (!FINISH_REASONS.includes(finish)) say("finish", `finish_reason ${show(finish)}`);
    if (!legacy) checkMessage(at(choice, "message"), say);
    else if (!isString(at(choice, "text"))) say("completion-shape", "text is not a string");
  }
  if (usage !== undefined && usage !== null && !isUsage(usage)) say("usage", show(usage));
}

function checkMessage(message: unknown, say: Problems["say"]): void {
  if (at(message, "role") !== "assistant") say("role", `message.role ${show(at(message, "role"))}`);
  if (!isTextOrNull(at(message, "content"))) say("completion-shape", `message.content ${show(at(message, "content"))}`);
  const calls = at(message, "tool_calls");
  if (calls !== undefined && !listOf(calls).length) say("tool-calls", `tool_calls is ${show(calls)}`);
  for (const call of listOf(calls)) {
    const body = at(call, "function");
    const named = isFilled(at(call, "id")) && at(call, "type") === "function" && isFilled(at(body, "name"));
    if (!named || !isString(at(body, "arguments"))) say("tool-calls", show(call));
  }
}

export function readErrorBody(bytes: Uint8Array): ErrorReading {
  const { list, say } = new Problems();
  const text = new TextDecoder().decode(bytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    say("envelope", `not JSON: ${show(text)}`);
    return { form: "error", problems: list, body, error: undefined };
  }
  const fault = faultOfError(at(body, "error"));
  if (fault) say("envelope", fault);
  return { form: "error", problems: list, body, error: at(body, "error") };
}
