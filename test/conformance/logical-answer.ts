// What an answer says, whatever its form: the same upstream must give the same logical answer whole and streamed.
import { at, entriesOf, isObject, isString, listOf } from "./json.ts";

export interface LogicalCall {
  readonly id: unknown;
  readonly type: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
}

export interface LogicalChoice {
  readonly index: unknown;
  readonly content: unknown;
  readonly refusal: unknown;
  readonly finish_reason: unknown;
  readonly logprobs: unknown;
  readonly audio: unknown;
  readonly reasoning: string;
  readonly tool_calls: readonly LogicalCall[];
}

export interface LogicalAnswer {
  readonly id: unknown;
  readonly model: unknown;
  readonly created: unknown;
  readonly usage: unknown;
  readonly choices: readonly LogicalChoice[];
}

const textOr = (value: unknown): string => (isString(value) ? value : "");

/** Reasoning comes in two spellings: the same text in both counts once. */
const joined = (first: string, second: string): string => (first === second ? first : first + second);

const added = (before: unknown, piece: unknown): unknown => (isString(piece) ? textOr(before) + piece : before);

class ChoiceBuilder {
  content: unknown = null;
  refusal: unknown = null;
  finish: unknown = null;
  logprobs: Record<string, unknown[]> | null = null;
  audio: Record<string, unknown> | undefined;
  reasoning = "";
  reasoningContent = "";
  readonly calls = new Map<unknown, { id: string; type: unknown; name: string; arguments: string }>();

  add(choice: unknown): void {
    const delta = at(choice, "delta");
    this.content = added(this.content, at(delta, "content") ?? at(choice, "text"));
    this.refusal = added(this.refusal, at(delta, "refusal"));
    this.reasoning += textOr(at(delta, "reasoning"));
    this.reasoningContent += textOr(at(delta, "reasoning_content"));
    this.finish = at(choice, "finish_reason") || this.finish;
    for (const call of listOf(at(delta, "tool_calls"))) this.#addCall(call);
    for (const [key, list] of entriesOf(at(choice, "logprobs"))) {
      if (Array.isArray(list)) this.logprobs = { ...this.logprobs, [key]: [...(this.logprobs?.[key] ?? []), ...list] };
    }
    for (const [key, value] of entriesOf(at(delta, "audio"))) {
      const grows = key === "transcript" || key === "data";
      this.audio = { ...this.audio, [key]: grows ? textOr(this.audio?.[key]) + textOr(value) : value };
    }
  }

  #addCall(call: unknown): void {
    const before = this.calls.get(at(call, "index")) ?? { id: "", type: "", name: "", arguments: "" };
    const body = at(call, "function");
    this.calls.set(at(call, "index"), {
      id: before.id + textOr(at(call, "id")),
      type: at(call, "type") ?? before.type,
      name: before.name + textOr(at(body, "name")),
      arguments: before.arguments + textOr(at(body, "arguments")),
    });
  }

  build(index: unknown): LogicalChoice {
    const { content, refusal, logprobs, audio, calls } = this;
    const reasoning = joined(this.reasoning, this.reasoningContent);
    return {
      index,
      content,
      refusal,
      finish_reason: this.finish,
      logprobs,
      audio,
      reasoning,
      tool_calls: [...calls.values()],
    };
  }
}

export function answerOfChunks(chunks: readonly unknown[]): LogicalAnswer {
  const builders = new Map<unknown, ChoiceBuilder>();
  let usage: unknown;
  for (const chunk of chunks) {
    usage = at(chunk, "usage") ?? usage;
    for (const choice of listOf(at(chunk, "choices"))) {
      const index = at(choice, "index");
      const builder = builders.get(index) ?? new ChoiceBuilder();
      builders.set(index, builder);
      builder.add(choice);
    }
  }
  const choices = [...builders]
    .map(([index, builder]) => builder.build(index))
    .sort((a, b) => Number(a.index) - Number(b.index));
  return { ...identityOf(chunks[0]), usage, choices };
}

export function answerOfCompletion(body: unknown): LogicalAnswer {
  const choices = listOf(at(body, "choices")).map((choice): LogicalChoice => {
    const message = at(choice, "message");
    return {
      index: at(choice, "index"),
      content: at(message, "content") ?? at(choice, "text") ?? null,
      refusal: at(message, "refusal") ?? null,
      finish_reason: at(choice, "finish_reason"),
      logprobs: at(choice, "logprobs") ?? null,
      audio: at(message, "audio") ?? undefined,
      reasoning: joined(textOr(at(message, "reasoning")), textOr(at(message, "reasoning_content"))),
      tool_calls: listOf(at(message, "tool_calls")).map(callOf),
    };
  });
  return { ...identityOf(body), usage: at(body, "usage") ?? undefined, choices };
}

function callOf(call: unknown): LogicalCall {
  const body = at(call, "function");
  return { id: at(call, "id"), type: at(call, "type"), name: at(body, "name"), arguments: at(body, "arguments") };
}

const identityOf = (value: unknown): Pick<LogicalAnswer, "id" | "model" | "created"> =>
  isObject(value)
    ? { id: value["id"], model: value["model"], created: value["created"] }
    : { id: undefined, model: undefined, created: undefined };
