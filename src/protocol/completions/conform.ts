import type { Outcome } from "../answer-form.ts";
import { createChoices } from "../chat/choices.ts";
import type { ChunkSink, Conform } from "../chat/conform.ts";
import { createHead } from "../chat/head.ts";
import { failedFinish, parsePart, type Failure } from "../chat/part.ts";
import { wholeCharacters } from "../chat/repair.ts";
import type { Identity, WireChunk } from "../chat/types.ts";
import { createUsageChunk } from "../chat/usage-chunk.ts";
import { createUsageAccount } from "../chat/usage.ts";
import { gatewayError } from "../errors.ts";
import { deeperThan, isObject, type JsonObject, MAX_DEPTH, parseLossless, withoutNonFinite } from "../json/lossless.ts";
import { invalidAnswer } from "../upstream-error.ts";
import type { Held } from "../chat/choice.ts";
import { createTextChoice, isCleanText, textFinish, textIn, type TextChoice } from "./choice.ts";
import { textLogprobs } from "./logprobs.ts";
import { ID_PREFIX, TEXT_COMPLETION, type Place, type TextShape } from "./types.ts";

export interface TextConformOptions {
  readonly shape: TextShape;
  readonly identity: Identity;
  /** Set when the answer is one of several that the client reads as one. */
  readonly place?: Place | undefined;
}

/** Holds one streamed answer of `/completions` to the contract: as for chat, but a choice is nothing but text. */
export function createTextConform({ shape, identity, place }: TextConformOptions, sink: ChunkSink): Conform {
  const account = createUsageAccount();
  const head = place?.head ?? createHead(TEXT_COMPLETION, ID_PREFIX, identity);
  const offset = place?.offset ?? 0;
  // Nobody reads the choices of a batch in the order of their prompts, so none is begun for another's sake.
  const choices = createChoices(shape.choices, createTextChoice, shape.choices);
  const usageChunk = createUsageChunk(head);
  let answered = false;
  let progress = 0;
  let outcome: Outcome | undefined;

  const emit = (chunk: JsonObject, choice: TextChoice, wire: JsonObject): void =>
    sink.changed(head.rewrite(chunk, [{ ...wire, index: choice.index + offset }]));

  const hold = (choice: TextChoice, finish: TextChoice["finish"], held: Held): void => {
    // What was cut short stays cut short, whatever a second finish says.
    if (choice.finish !== "length") choice.finish = finish;
    choice.held = held;
    answered = true;
  };

  /** The chunk that brought a finish turns out not to be the last one: its text leaves now, the finish goes on waiting. */
  const release = (choice: TextChoice): void => {
    const { held } = choice;
    if (held === undefined) return;
    const [wire] = held.chunk["choices"] as [JsonObject];
    if (wire["text"] === "" && !isObject(wire["logprobs"])) return;
    choice.held = { chunk: { ...held.chunk, choices: [{ ...wire, text: "", logprobs: null }] }, data: undefined };
    emit(held.chunk, choice, { ...wire, finish_reason: null });
  };

  const repair = (chunk: JsonObject, wire: JsonObject, choice: TextChoice): void => {
    const { text: _text, delta: _delta, message: _message, index: _index, finish_reason, ...vendor } = wire;
    const text = wholeCharacters(choice, "text", textIn(wire));
    const finish = textFinish(finish_reason);
    const logprobs = textLogprobs(wire["logprobs"], choice.length);
    choice.length += text.length;
    answered ||= text !== "";
    if (text === "" && logprobs === null && finish === undefined) return;
    release(choice);
    const said = { ...vendor, index: choice.index, text, logprobs, finish_reason: null };
    if (finish === undefined || finish === "failed") emit(chunk, choice, said);
    else if (choice.held === undefined) hold(choice, finish, { chunk: { ...chunk, choices: [said] }, data: undefined });
    else {
      if (text !== "" || logprobs !== null) emit(chunk, choice, said);
      hold(choice, finish, choice.held);
    }
  };

  const takeChunk = (data: string, parsed: JsonObject, legal: boolean, failure: Failure | undefined): void => {
    const list = Array.isArray(parsed["choices"]) ? parsed["choices"].filter(isObject) : [];
    const { usage } = parsed;
    if (isObject(usage)) {
      const ended = choices.count(({ finish }) => finish !== undefined);
      account.add(usage, list.length === 0, ended, Math.max(shape.choices, choices.size));
    }
    if (list.length === 0) return isObject(usage) ? usageChunk.keep(data, parsed, legal) : undefined;
    const members = list.map((wire, at) => choices.of(wire, at));
    const plain = legal && failure === undefined && (usage === undefined || usage === null) && head.stands(parsed);
    if (plain && offset === 0 && list.every((wire, i) => isClean(wire, members[i], list.length))) {
      return takeClean(data, parsed as WireChunk, list, members as TextChoice[]);
    }
    if (deeperThan(parsed, MAX_DEPTH)) return failWith({ error: invalidAnswer("a chunk that is nested too deeply") });
    // Numbers keep their spelling in what is written anew.
    const chunk = parseLossless(legal ? data : withoutNonFinite(data)) as JsonObject;
    for (const [i, wire] of (chunk["choices"] as unknown[]).filter(isObject).entries()) {
      const choice = members[i];
      if (choice === undefined) return failWith({ error: invalidAnswer("more choices than can be") });
      const gaveUp = textFinish(wire["finish_reason"]) === "failed";
      repair(chunk, failure !== undefined || gaveUp ? { ...wire, finish_reason: null } : wire, choice);
      if (gaveUp && failure === undefined) return failWith(failedFinish(wire));
    }
    if (failure !== undefined) failWith(failure);
  };

  const takeClean = (data: string, chunk: WireChunk, list: JsonObject[], members: TextChoice[]): void => {
    for (const [i, wire] of list.entries()) {
      const text = wire["text"] as string;
      (members[i] as TextChoice).length += text.length;
      answered ||= text !== "";
    }
    const [wire] = list as [JsonObject];
    if (wire["finish_reason"] === null) sink.unchanged(data, chunk);
    else hold(members[0] as TextChoice, wire["finish_reason"] as TextChoice["finish"], { chunk, data });
  };

  const failWith = (failure: Failure): void => {
    if (outcome !== undefined) return;
    for (const choice of choices.list()) release(choice);
    outcome = { kind: "failed", failure };
  };

  const complete = (): void => {
    const list = choices.list();
    if (list.length === 0) return failWith({ error: invalidAnswer("an empty stream") });
    if (list.some(({ held }) => held === undefined)) {
      return failWith({
        error: gatewayError("upstream_cut", "The upstream ended the stream before the answer was finished."),
      });
    }
    for (const choice of list) end(choice, choice.held as Held);
    emitUsage();
    outcome = { kind: "complete" };
  };

  const end = (choice: TextChoice, { chunk, data }: Held): void => {
    const [wire] = chunk["choices"] as [JsonObject];
    const half = choice.halves.get("text") ?? "";
    if (data !== undefined && half === "" && wire["finish_reason"] === choice.finish) {
      return sink.unchanged(data, chunk as WireChunk);
    }
    emit(chunk, choice, { ...wire, text: (wire["text"] as string) + half, finish_reason: choice.finish });
  };

  const emitUsage = (): void => {
    const own = account.total();
    const total = place === undefined ? own : place.total(own);
    if (shape.includeUsage && place?.last !== false) usageChunk.emit(total, sink);
  };

  return {
    get answered() {
      return answered;
    },
    get finished() {
      return choices.size >= shape.choices && choices.every(({ held }) => held !== undefined);
    },
    get progress() {
      return progress;
    },
    get outcome() {
      return outcome;
    },
    seen: head.seen,
    usage: () => account.total(),
    takeRun: (_text, at) => at,

    take(event): void {
      if (outcome !== undefined) return;
      const part = parsePart(event);
      if (part.kind === "skip") return;
      progress++;
      if (part.kind === "done") complete();
      else if (part.kind === "error") failWith(part.failure);
      else takeChunk(event.data, part.chunk, part.legal, part.failure);
    },

    end(): void {
      if (outcome === undefined) complete();
    },

    fail(failure): void {
      if (outcome !== undefined) return;
      if (choices.size > 0 && choices.every(({ held }) => held !== undefined)) complete();
      else failWith(failure);
    },
  };
}

/** A finish waits, which the other choices of its chunk must not. */
function isClean(wire: JsonObject, choice: TextChoice | undefined, size: number): boolean {
  return (
    choice !== undefined &&
    choice.held === undefined &&
    choice.halves.size === 0 &&
    wire["index"] === choice.index &&
    isCleanText(wire) &&
    (size === 1 || wire["finish_reason"] === null)
  );
}
