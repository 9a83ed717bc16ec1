import { isObject, type JsonObject } from "../json/lossless.ts";
import { callOf, continuingDelta, openingDelta, parseCallDelta, type Call, type CallDelta } from "./calls.ts";
import type { Choice } from "./choice.ts";
import { chatLogprobs } from "../quirks/logprobs-in-other-shapes.ts";
import { withThoughtsApart } from "../quirks/thoughts-among-the-parts.ts";
import { isHighSurrogate, textOf } from "./text.ts";

const TEXT_MEMBERS: ReadonlySet<string> = new Set(["content", "refusal", "reasoning", "reasoning_content"]);
const OWN_MEMBERS: ReadonlySet<string> = new Set(["role", "tool_calls", "function_call"]);

/** The delta of a choice, wherever the upstream has put it. `whole`: it is a message, which repeats what deltas said before. */
export function deltaOf(wire: JsonObject): { readonly delta: JsonObject; readonly whole: boolean } {
  if (isObject(wire["delta"])) return { delta: withThoughtsApart(wire["delta"]), whole: false };
  if (isObject(wire["message"])) return { delta: withThoughtsApart(wire["message"]), whole: true };
  return { delta: wire["text"] === undefined ? {} : { content: wire["text"] }, whole: false };
}

/** What a choice of an upstream's chunk says, each kind of it in its place. */
export interface Said {
  readonly delta: JsonObject;
  readonly whole: boolean;
  readonly logprobs: JsonObject | null;
  readonly finish_reason: unknown;
  readonly vendor: JsonObject;
}

export function saidBy(given: JsonObject, choice: Choice): Said {
  const wire = choice.unrepeat?.(given) ?? given;
  const { delta: _delta, message: _message, text: _text, index: _index, finish_reason, logprobs, ...vendor } = wire;
  const { delta, whole } = deltaOf(wire);
  const text = [delta["content"], delta["reasoning"], delta["reasoning_content"]].map(textOf).find(Boolean) ?? "";
  return { delta, whole, logprobs: chatLogprobs(logprobs, text), finish_reason, vendor };
}

/**
 * The deltas that say what one delta of an upstream said, in the form that strict clients read: the role once, no nulls, texts as
 * strings, one tool call each. None, if it said nothing.
 */
export function repairDelta(raw: JsonObject, whole: boolean, choice: Choice, newCallId: () => string): JsonObject[] {
  const delta: JsonObject = {};
  for (const key of Object.keys(raw)) {
    const value = raw[key];
    if (OWN_MEMBERS.has(key) || value === null || value === undefined) continue;
    if (TEXT_MEMBERS.has(key)) {
      const said = textOf(value) ?? "";
      const text = wholeCharacters(choice, key, whole ? newText(key, said, choice) : said);
      if (text !== "" || value === "") Object.defineProperty(delta, key, member(text));
    } else Object.defineProperty(delta, key, member(value));
  }
  const call = functionCallOf(raw["function_call"], choice);
  if (call !== undefined) delta["function_call"] = call;
  const deltas = callDeltas(raw["tool_calls"], whole, choice, newCallId);
  const saysRole = !choice.started && raw["role"] !== undefined && choice.halves.size === 0;
  if (saysRole || Object.keys(delta).length > 0) deltas.unshift(delta);
  return withRole(deltas, choice);
}

/** The first delta of a choice says its role. */
function withRole(deltas: JsonObject[], choice: Choice): JsonObject[] {
  const [first, ...rest] = deltas;
  if (first === undefined || choice.started) return deltas;
  choice.started = true;
  return [{ role: "assistant", ...first }, ...rest];
}

// As the spread operator does it: a key called `__proto__` is only a key.
const member = (value: unknown): PropertyDescriptor => ({
  value,
  enumerable: true,
  writable: true,
  configurable: true,
});

/** What a message says that has not been said: nothing, if it sums up the deltas before it or repeats the messages before it. */
function newText(key: string, said: string, choice: Choice): string {
  const before = choice.messageTexts.get(key) ?? "";
  const byDeltas = key.startsWith("reasoning") ? choice.hasReasoning : choice.hasText;
  if ((byDeltas && before === "") || (said !== "" && said === before)) return "";
  choice.messageTexts.set(key, before + said);
  return said;
}

/** Holds back the first half of a character at the end of a text, and puts the one that waits in front of the next text. */
export function wholeCharacters(choice: Pick<Choice, "halves">, key: string, text: string): string {
  if (text === "") return text;
  const joined = (choice.halves.get(key) ?? "") + text;
  choice.halves.delete(key);
  if (!isHighSurrogate(joined.charCodeAt(joined.length - 1))) return joined;
  choice.halves.set(key, joined.slice(-1));
  return joined.slice(0, -1);
}

function functionCallOf(value: unknown, choice: Choice): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const call: JsonObject = {};
  const { name, arguments: args } = value;
  if (typeof name === "string" && name !== "" && !choice.functionName) call["name"] = name;
  if (typeof args === "string") call["arguments"] = args;
  else if (args !== null && args !== undefined) call["arguments"] = JSON.stringify(args);
  choice.functionName ||= call["name"] !== undefined;
  choice.functionCall ||= call["name"] !== undefined || call["arguments"] !== undefined;
  return Object.keys(call).length > 0 ? call : undefined;
}

function callDeltas(value: unknown, whole: boolean, choice: Choice, newCallId: () => string): JsonObject[] {
  // One server sends a single call without its list.
  const elements = Array.isArray(value) ? value : isObject(value) ? [value] : [];
  return elements.flatMap((element) => {
    const delta = parseCallDelta(element);
    if (delta === undefined) return [];
    if (whole && isRepeated(choice.calls, delta)) return [];
    let call = whole ? undefined : callOf(choice.calls, delta, choice.isPartialName);
    const deltas: JsonObject[] = [];
    if (call === undefined) {
      if (delta.id === "" && delta.name === "" && delta.args === undefined) return [];
      // The calls before it are complete as far as their names go; they keep their places.
      deltas.push(...waitingCalls(choice));
      call = openCall(choice, delta.index, delta.type);
    }
    if (call.upstreamId === "" && delta.id !== "") {
      call.upstreamId = delta.id;
      if (call.out === undefined && !choice.calls.some((other) => other.id === delta.id)) call.id = delta.id;
    }
    if (call.id === "") call.id = newCallId();
    if (call.out === undefined && (call.name === "" || (delta.name !== call.name && choice.isPartialName(call.name))))
      call.name += delta.name;
    const args = wholeCharacters(choice, `call ${choice.calls.indexOf(call)}`, delta.args ?? "");
    call.args += args;
    if (call.out !== undefined)
      return args === "" ? deltas : [...deltas, { tool_calls: [continuingDelta(call, args)] }];
    call.waiting += args;
    const waits = call.name === "" || (call.args === "" && choice.isPartialName(call.name));
    return waits ? deltas : [...deltas, leave(call, choice)];
  });
}

function openCall(choice: Choice, upstreamIndex: number | undefined, type: Call["type"]): Call {
  const call: Call = { upstreamIndex, upstreamId: "", id: "", type, name: "", args: "", waiting: "", out: undefined };
  choice.calls.push(call);
  return call;
}

/** A call of a message that sums up what deltas have said. */
function isRepeated(calls: readonly Call[], { id, name, args }: CallDelta): boolean {
  return calls.some(
    (call) => (id !== "" && call.upstreamId === id) || (call.name === name && call.args === (args ?? "")),
  );
}

/** Lets the calls go that wait in case their names grow. */
export function waitingCalls(choice: Choice): JsonObject[] {
  return choice.calls.filter((call) => call.out === undefined && call.name !== "").map((call) => leave(call, choice));
}

function leave(call: Call, choice: Choice): JsonObject {
  call.out = choice.calls.filter((other) => other.out !== undefined).length;
  const args = call.waiting;
  call.waiting = "";
  return { tool_calls: [openingDelta(call, args)] };
}

/**
 * What is still owed before a choice ends: calls whose name could have grown, `{}` for calls that never got arguments, halves of
 * characters. Undefined: a call has arguments but no name, and cannot be given to anybody.
 */
export function closingDeltas(choice: Choice, cutShort: boolean): JsonObject[] | undefined {
  const deltas: JsonObject[] = [];
  for (const [key, half] of choice.halves) if (TEXT_MEMBERS.has(key)) deltas.push({ [key]: half });
  for (const [i, call] of choice.calls.entries()) {
    const half = choice.halves.get(`call ${i}`) ?? "";
    call.args += half;
    call.waiting += half;
    if (call.out === undefined) {
      if (call.name === "") return undefined;
      if (call.args === "" && !cutShort) call.args = call.waiting = call.type === "function" ? "{}" : "";
      deltas.push(leave(call, choice));
    } else if (half !== "") deltas.push({ tool_calls: [continuingDelta(call, half)] });
    else if (call.args === "" && !cutShort && call.type === "function") {
      call.args = "{}";
      deltas.push({ tool_calls: [continuingDelta(call, "{}")] });
    }
  }
  choice.halves.clear();
  return withRole(deltas, choice);
}
