// The rules of a chat (or legacy completions) stream, event by event.
import { at, isFilled, isInteger, isObject, isString, listOf, show } from "./json.ts";
import { faultOfError, FINISH_REASONS, isUsage, type AnswerOptions, type Rule } from "./strict.ts";

const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.values(value).some(hasNull));

/** OpenAI sends these two as null; no other member of a delta may be. */
const NULLABLE = ["content", "refusal"];

export class StreamRules {
  readonly chunks: unknown[] = [];
  error: unknown;
  ended = false;
  #usageSeen = false;
  readonly #fixed = new Map<string, string>();
  readonly #started = new Set<unknown>();
  readonly #finished = new Set<unknown>();
  readonly #calls = new Map<unknown, number>();
  readonly #options: AnswerOptions;
  readonly #say: (rule: Rule, message: string) => void;

  constructor(options: AnswerOptions, say: (rule: Rule, message: string) => void) {
    this.#options = options;
    this.#say = say;
  }

  read(data: string): void {
    const isDone = data === "[DONE]";
    if (this.ended) return this.#say(isDone ? "one-done" : "after-done", `event after [DONE]: ${show(data)}`);
    if (this.error !== undefined) {
      return this.#say(isDone ? "done-after-error" : "after-error", `event after the error event: ${show(data)}`);
    }
    if (isDone) {
      this.ended = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      return this.#say("data-json", `data is neither JSON nor [DONE]: ${show(data)}`);
    }
    if (at(value, "error") === undefined) return this.#readChunk(value);
    this.error = at(value, "error");
    const fault = faultOfError(this.error);
    if (fault) this.#say("error-shape", fault);
    if (at(value, "choices") !== undefined) this.#say("error-shape", "an error event with choices");
  }

  close(): void {
    if (!this.ended && this.error === undefined) this.#say("open-end", "neither [DONE] nor an error event");
    if (!this.ended) return;
    const indexes = new Set(this.chunks.flatMap((chunk) => listOf(at(chunk, "choices")).map((c) => at(c, "index"))));
    if (!indexes.size) this.#say("finish", "[DONE] without any choice");
    for (const index of indexes) {
      if (!this.#finished.has(index)) this.#say("finish", `no finish_reason for choice ${show(index)} before [DONE]`);
    }
  }

  #readChunk(chunk: unknown): void {
    const { id, object, created, model, choices } = isObject(chunk) ? chunk : {};
    const due = this.#options.legacy ? "text_completion" : "chat.completion.chunk";
    if (object !== due) this.#say("chunk-shape", `object: ${show(object ?? chunk)}`);
    if (!isFilled(id) || !isInteger(created) || !isFilled(model)) {
      this.#say("chunk-shape", `id, created, model: ${show([id, created, model])}`);
    }
    for (const [key, value] of Object.entries({ id, created, model })) {
      const first = this.#fixed.get(key) ?? show(value);
      this.#fixed.set(key, first);
      if (first !== show(value)) this.#say("constant", `${key} changes from ${first} to ${show(value)}`);
    }
    if (!Array.isArray(choices)) return this.#say("chunk-shape", "choices is not an array");
    this.#readUsage(at(chunk, "usage"), choices.length);
    this.chunks.push(chunk);
    for (const choice of choices) this.#readChoice(choice);
  }

  #readUsage(usage: unknown, choiceCount: number): void {
    if (usage === undefined || usage === null) {
      if (this.#usageSeen && choiceCount) this.#say("usage-place", "a choice after the usage chunk");
      return;
    }
    if (!this.#options.includeUsage) this.#say("usage-place", `not asked for: ${show(usage)}`);
    else if (choiceCount) this.#say("usage-place", `on a chunk with choices: ${show(usage)}`);
    else if (this.#usageSeen) this.#say("usage-place", `on a second chunk: ${show(usage)}`);
    if (!isUsage(usage)) this.#say("usage", show(usage));
    this.#usageSeen = true;
  }

  #readChoice(choice: unknown): void {
    const { index, delta, finish_reason: finish, text } = isObject(choice) ? choice : {};
    if (!isInteger(index)) return this.#say("chunk-shape", "choice without integer index");
    const finishes = FINISH_REASONS.includes(finish);
    if (finish !== null && !finishes) this.#say("finish", `finish_reason ${show(finish)}`);
    if (this.#finished.has(index)) {
      this.#say(
        finishes ? "finish" : "after-finish",
        `choice ${index} goes on after its finish_reason: ${show(choice)}`,
      );
    }
    if (finishes) this.#finished.add(index);
    if (!this.#options.legacy) return this.#readDelta(index, delta);
    if (!isString(text)) this.#say("chunk-shape", "text is not a string");
  }

  #readDelta(index: number, delta: unknown): void {
    if (!isObject(delta)) return this.#say("chunk-shape", "delta is not an object");
    for (const [key, value] of Object.entries(delta)) {
      if (value === null && !NULLABLE.includes(key)) this.#say("delta-null", `delta.${key} is null`);
    }
    const { role, content, tool_calls: calls } = delta;
    const started = this.#started.has(index);
    if (role !== undefined && role !== "assistant") this.#say("role", `role ${show(role)}`);
    if (!started && role !== "assistant") this.#say("role", `the first delta of choice ${index} has no role`);
    if (started && role !== undefined) this.#say("role", `the role of choice ${index} comes twice`);
    if (content !== undefined && content !== null && !isString(content)) {
      this.#say("chunk-shape", `delta.content is ${show(content)}`);
    }
    this.#started.add(index);
    if (listOf(calls).length > 1) this.#say("tool-order", `several calls in one chunk: ${show(calls)}`);
    for (const call of listOf(calls)) this.#readCall(index, call);
  }

  #readCall(choiceIndex: number, call: unknown): void {
    const index = at(call, "index");
    const body = at(call, "function");
    const [id, type, name, args] = [at(call, "id"), at(call, "type"), at(body, "name"), at(body, "arguments")];
    if (hasNull(call) || [id, name, args].some((value) => value !== undefined && !isString(value))) {
      this.#say("tool-delta", `member of a wrong type: ${show(call)}`);
    }
    if (!isInteger(index)) return this.#say("tool-delta", "tool call delta without integer index");
    const known = this.#calls.get(choiceIndex) ?? 0;
    if (index < known) {
      if ([id, type, name].some((value) => value !== undefined)) {
        this.#say("tool-order", `id, type or name on a later delta: ${show(call)}`);
      }
      return;
    }
    if (index > known) this.#say("tool-order", `call index ${index}, expected ${known}`);
    if (!isFilled(id) || type !== "function" || !isFilled(name)) {
      this.#say("tool-delta", `first delta of a call: ${show(call)}`);
    }
    this.#calls.set(choiceIndex, index + 1);
  }
}
