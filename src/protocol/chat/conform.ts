import type { AnswerState, Outcome } from "../answer-form.ts";
import { gatewayError } from "../errors.ts";
import {
  deeperThan,
  isObject,
  type JsonObject,
  MAX_DEPTH,
  mayChange,
  parseLossless,
  withoutNonFinite,
} from "../json/lossless.ts";
import type { ServerSentEvent } from "../sse/decode.ts";
import { createEnding } from "../text/ending.ts";
import { mayEndSpecially } from "../text/special-tokens.ts";
import { invalidAnswer } from "../upstream-error.ts";
import { broughtBy, createChoice, MAX_CALLS, noteCleanCall, type Choice, type Held } from "./choice.ts";
import { createChoices } from "./choices.ts";
import { isCleanChoice } from "./clean.ts";
import { finishOf, meaningOf } from "./finish.ts";
import { createHead } from "./head.ts";
import { failedFinish, parsePart, type Failure } from "./part.ts";
import { withReasoningFields } from "./reasoning-fields.ts";
import { closingDeltas, waitingCalls, repairDelta, saidBy } from "./repair.ts";
import { createSameShape, type RunSink } from "./same-shape.ts";
import type { AnswerShape, FinishReason, Identity, WireChunk } from "./types.ts";
import { createUsageChunk } from "./usage-chunk.ts";
import { createUsageAccount } from "./usage.ts";

/** Where the chunks of an answer go, in the order in which the client shall read them. */
export interface ChunkSink {
  /** The chunk holds to the contract: the text of its event can leave as it came. */
  unchanged(data: string, chunk: WireChunk): void;
  changed(chunk: WireChunk): void;
}

/** Holds one streamed answer to the contract that the strictest client relies on. */
export interface Conform extends AnswerState {
  take(event: ServerSentEvent): void;
  /** Takes events by the look of them: from `at`, where one begins, answers how far the text holds nothing but clean ones. */
  takeRun(text: string, at: number): number;
  /** The body has ended without `[DONE]`: whole, if everything has finished. */
  end(): void;
  /** The body broke off or ran out of time: everything received leaves, then the answer is failed unless it had finished. */
  fail(failure: Failure): void;
  /** The first values that the upstream itself gave. */
  readonly seen: Readonly<{ id?: string; created?: number; model?: string }>;
  /** The usage of the whole answer, once it has ended. */
  usage(): JsonObject | undefined;
}

export interface ConformOptions {
  readonly shape: AnswerShape;
  readonly identity: Identity;
  /** Where events go that are known by the look of them; without it (an aggregate) every chunk is parsed. */
  readonly runs?: RunSink | undefined;
}

export function createConform({ shape, identity, runs }: ConformOptions, sink: ChunkSink): Conform {
  const account = createUsageAccount();
  const sameShape = createSameShape();
  const reasoning = shape.reasoning ?? "as_sent";
  const head = createHead("chat.completion.chunk", "chatcmpl-", identity);
  const usageChunk = createUsageChunk(head);
  let answered = false;
  let progress = 0;
  let outcome: Outcome | undefined;
  let emitted = 0;
  let last: WireChunk | undefined;

  const isPartialName = (name: string): boolean =>
    shape.toolNames.some((tool) => tool !== name && tool.startsWith(name));
  const choices = createChoices(shape.n, (index) => createChoice(index, isPartialName, shape));
  const newCallId = (): string => identity.newId("call_");

  const emit = (chunk: JsonObject, choice: JsonObject): void => {
    if (choices.size > 1) beginBefore(choice["index"] as number, chunk);
    emitted++;
    sink.changed((last = head.rewrite(chunk, [choice])));
  };

  /** Some clients want to see the choices begin in order; a server with several slots does not know an order. */
  const beginBefore = (index: number, chunk: JsonObject): void => {
    for (const earlier of choices.list()) {
      if (earlier.index >= index || earlier.started) continue;
      earlier.started = true;
      const delta = { role: "assistant", content: "" };
      sink.changed(head.rewrite(chunk, [{ index: earlier.index, delta, logprobs: null, finish_reason: null }]));
    }
  };

  const hasUnbegun = (): boolean => choices.size > 1 && !choices.every((choice) => choice.started);

  const note = (delta: JsonObject, choice: Choice): void => {
    choice.hasText ||= isText(delta["content"]) || isText(delta["refusal"]);
    choice.hasReasoning ||= isText(delta["reasoning"]) || isText(delta["reasoning_content"]);
    answered ||= choice.hasText || choice.hasReasoning;
    answered ||= choice.calls.length > 0 || choice.functionCall || isObject(delta["audio"]);
  };

  const takeClean = (wire: JsonObject, choice: Choice): void => {
    const delta = wire["delta"] as JsonObject;
    choice.started = true;
    const [call] = (delta["tool_calls"] ?? []) as JsonObject[];
    if (call !== undefined) noteCleanCall(call, choice);
    if (isObject(delta["function_call"])) {
      choice.functionCall = true;
      choice.functionName ||= "name" in delta["function_call"];
    }
    note(delta, choice);
  };

  const holdFinish = (choice: Choice, raw: unknown, held: Held): void => {
    const meaning = meaningOf(raw);
    if (meaning === undefined || meaning === "failed") return;
    choice.ended = true;
    // What was cut short stays cut short, whatever a second finish says.
    if (choice.meaning !== "length") choice.meaning = meaning;
    // The end of a call without any call is no answer.
    answered ||= finishOf(choice.meaning ?? meaning, broughtBy(choice, shape)) !== undefined;
    choice.held = held;
  };

  /** The chunk that brought a finish turns out not to be the last one: its delta leaves now, the finish goes on waiting. */
  const release = (choice: Choice): void => {
    const { held } = choice;
    if (held?.data === undefined) return;
    const [wire] = held.chunk["choices"] as [JsonObject];
    choice.held = { chunk: { ...held.chunk, choices: [{ ...wire, delta: {}, logprobs: null }] }, data: undefined };
    if (Object.keys(wire["delta"] as JsonObject).length > 0) emit(held.chunk, { ...wire, finish_reason: null });
  };

  const repair = (chunk: JsonObject, wire: JsonObject, choice: Choice): void => {
    const { delta: raw, whole, logprobs, finish_reason, vendor } = saidBy(wire, choice);
    const deltas = passed(raw, choice).flatMap((delta) => repairDelta(delta, whole, choice, newCallId));
    const finish = meaningOf(finish_reason);
    if (deltas.length > 0 || finish !== undefined) release(choice);
    if (deltas.length === 0 && logprobs !== null) deltas.push(firstDelta(choice));
    emitDeltas(chunk, choice, deltas, logprobs);
    if (finish === undefined) return;
    const last = { index: choice.index, delta: {}, logprobs: null, finish_reason: null, ...vendor };
    holdFinish(choice, finish_reason, { chunk: { ...chunk, choices: [last] }, data: undefined });
  };

  /** What the choice's pass makes of a delta; a text that may end in a special token gets a pass for as long as that is open. */
  const passed = (raw: JsonObject, choice: Choice): JsonObject[] => {
    const { content } = raw;
    if (choice.pass === undefined && typeof content === "string" && mayEndSpecially(content))
      choice.pass = createEnding();
    const deltas = (choice.pass?.take(raw) ?? [raw]).map((delta) => withReasoningFields(delta, reasoning));
    if (choice.pass?.idle === true) choice.pass = undefined;
    return deltas;
  };

  const emitDeltas = (chunk: JsonObject, choice: Choice, deltas: JsonObject[], logprobs: unknown): void => {
    for (const [i, delta] of deltas.entries()) {
      note(delta, choice);
      const first = i === 0 && logprobs !== undefined ? logprobs : null;
      emit(chunk, { index: choice.index, delta, logprobs: first, finish_reason: null });
    }
  };

  /** What a pass has held back, now that the choice ends: as it turned out, or as it stands if the answer broke off. */
  const endPass = (choice: Choice, meaning: FinishReason): FinishReason => {
    if (choice.pass === undefined) return meaning;
    const ended = choice.pass.end(meaning);
    choice.pass = undefined;
    const deltas = ended.deltas
      .map((delta) => withReasoningFields(delta, reasoning))
      .flatMap((delta) => repairDelta(delta, false, choice, newCallId));
    emitDeltas(choice.held?.chunk ?? {}, choice, deltas, undefined);
    return ended.finish;
  };

  /** Everything of a choice that has been received leaves, but for its finish. */
  const flush = (choice: Choice): void => {
    release(choice);
    endPass(choice, "length");
    emitDeltas(choice.held?.chunk ?? {}, choice, waitingCalls(choice), undefined);
  };

  const takeChunk = (data: string, parsedChunk: JsonObject, legal: boolean, failure: Failure | undefined): void => {
    const list = Array.isArray(parsedChunk["choices"]) ? parsedChunk["choices"].filter(isObject) : [];
    const { usage } = parsedChunk;
    if (isObject(usage)) {
      const ended = choices.count((choice) => choice.ended);
      account.add(usage, list.length === 0, ended, Math.max(shape.n, choices.size));
    }
    // A chunk with neither choices nor usage (Azure's first one) tells a client nothing, and some trip over it.
    if (list.length === 0) return isObject(usage) ? usageChunk.keep(data, parsedChunk, legal) : undefined;
    const members = list.map((wire, place) => choices.of(wire, place, true));
    const clean =
      legal &&
      failure === undefined &&
      (usage === undefined || usage === null) &&
      parsedChunk["error"] === undefined &&
      head.stands(parsedChunk) &&
      list.every((wire, i) => {
        const choice = members[i];
        return (
          choice !== undefined &&
          wire["index"] === choice.index &&
          isCleanChoice(wire, choice, shape) &&
          (list.length === 1 || wire["finish_reason"] === null)
        );
      });
    if (clean) return takeCleanChunk(data, parsedChunk as WireChunk, list, members as Choice[]);
    if (deeperThan(parsedChunk, MAX_DEPTH))
      return failWith({ error: invalidAnswer("a chunk that is nested too deeply") });
    // Numbers keep their spelling in what is written anew.
    const chunk =
      legal && !mayChange(data) ? parsedChunk : (parseLossless(legal ? data : withoutNonFinite(data)) as JsonObject);
    const wires = (chunk["choices"] as unknown[]).filter(isObject);
    const before = emitted;
    const [first] = members;
    // What waits in a choice makes its next chunk another one.
    const nothingWaits = first !== undefined && first.pass === undefined && first.halves.size === 0;
    for (const [i, wire] of wires.entries()) {
      const choice = members[i];
      if (choice === undefined) return failWith({ error: invalidAnswer("more choices than can be") });
      const given = meaningOf(wire["finish_reason"]);
      repair(chunk, failure !== undefined || given === "failed" ? { ...wire, finish_reason: null } : wire, choice);
      if (choice.calls.length > MAX_CALLS) return failWith({ error: invalidAnswer("more tool calls than can be") });
      if (given === "failed" && failure === undefined) return failWith(failedFinish(wire));
    }
    if (failure !== undefined) return failWith(failure);
    const [wire] = wires;
    const isOne = wires.length === 1 && emitted === before + 1 && nothingWaits;
    if (runs === undefined || !isOne || !legal || isObject(usage) || wire === undefined || last === undefined) return;
    sameShape.learnRepaired(data, wire, first, last);
  };

  const takeCleanChunk = (data: string, chunk: WireChunk, list: JsonObject[], members: Choice[]): void => {
    for (const [i, wire] of list.entries()) {
      if (choices.size > 1) beginBefore((members[i] as Choice).index, chunk);
      takeClean(wire, members[i] as Choice);
    }
    const [wire] = list;
    const [choice] = members;
    if (list.length === 1 && wire !== undefined && choice !== undefined && wire["finish_reason"] !== null) {
      return holdFinish(choice, wire["finish_reason"], { chunk, data });
    }
    sink.unchanged(data, chunk);
    if (runs !== undefined && list.length === 1 && wire !== undefined && choice !== undefined)
      sameShape.learn(data, wire, choice);
  };

  const failWith = (failure: Failure): void => {
    if (outcome !== undefined) return;
    for (const choice of choices.list()) flush(choice);
    outcome = { kind: "failed", failure };
  };

  const complete = (): void => {
    const list = choices.list();
    if (list.length === 0) return failWith({ error: invalidAnswer("an empty stream") });
    if (!list.every((choice) => choice.ended)) {
      return failWith({
        error: gatewayError("upstream_cut", "The upstream ended the stream before the answer was finished."),
      });
    }
    for (const choice of list) if (choice.meaning !== undefined) choice.meaning = endPass(choice, choice.meaning);
    const ends = list.map((choice) => ({ choice, deltas: closingDeltas(choice, choice.meaning === "length") }));
    for (const { choice, deltas } of ends) {
      const reason = choice.meaning && finishOf(choice.meaning, broughtBy(choice, shape));
      if (deltas === undefined) return failWith({ error: invalidAnswer("a tool call without a name") });
      if (reason === undefined) return failWith({ error: invalidAnswer("the end of a tool call without any call") });
    }
    for (const { choice, deltas } of ends) {
      if (deltas === undefined || deltas.length === 0) continue;
      release(choice);
      emitDeltas(choice.held?.chunk ?? {}, choice, deltas, undefined);
    }
    for (const choice of list) end(choice);
    if (shape.includeUsage) usageChunk.emit(account.total(), sink);
    outcome = { kind: "complete" };
  };

  const end = (choice: Choice): void => {
    const held = choice.held as Held;
    const [wire] = held.chunk["choices"] as [JsonObject];
    const reason = choice.meaning && finishOf(choice.meaning, broughtBy(choice, shape));
    if (held.data !== undefined && wire["finish_reason"] === reason) {
      return sink.unchanged(held.data, held.chunk as WireChunk);
    }
    release(choice);
    const delta = choice.started ? {} : { role: "assistant", content: "" };
    choice.started = true;
    emit(held.chunk, { ...wire, delta, logprobs: null, finish_reason: reason });
  };

  const took = (): void => {
    progress++;
  };

  return {
    get answered() {
      return answered;
    },
    get finished() {
      return choices.size >= shape.n && choices.every((choice) => choice.ended);
    },
    get progress() {
      return progress;
    },
    get outcome() {
      return outcome;
    },
    seen: head.seen,
    usage: () => account.total(),

    takeRun: (text, at): number =>
      runs === undefined || outcome !== undefined || hasUnbegun() ? at : sameShape.run(text, at, runs, took),

    take(event): void {
      if (outcome !== undefined) return;
      const part = parsePart(event);
      if (part.kind === "skip") return;
      progress++;
      if (part.kind === "done") return complete();
      if (part.kind === "error") return failWith(part.failure);
      takeChunk(event.data, part.chunk, part.legal, part.failure);
    },

    end(): void {
      if (outcome === undefined) complete();
    },

    fail(failure): void {
      if (outcome !== undefined) return;
      if (choices.size >= shape.n && choices.every((choice) => choice.ended)) complete();
      else failWith(failure);
    },
  };
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

function firstDelta(choice: Choice): JsonObject {
  if (choice.started) return {};
  choice.started = true;
  return { role: "assistant" };
}
