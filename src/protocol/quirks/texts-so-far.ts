import { isObject, type JsonObject } from "../json/lossless.ts";
import { deltaOf } from "../chat/repair.ts";
import { textOf } from "../chat/text.ts";
import { chatLogprobs } from "./logprobs-in-other-shapes.ts";

export const why =
  "Some servers repeat in each chunk the whole text so far (`cumulative`); clients append what they get, and would say everything " +
  "many times. It cannot be told from a text that repeats itself, so an operator has to say it.";

/** Rewrites the choices of one stream, in the order in which they come, so that each says what is new. */
export type Unrepeat = (wire: JsonObject) => JsonObject;

const TEXTS = ["content", "refusal", "reasoning", "reasoning_content"] as const;

/** Made fresh for each choice of a stream. */
export function createUnrepeat(): Unrepeat {
  const texts = new Map<string, string>();
  const tokens: string[] = [];

  const newOf = (key: string, said: string, last = true): string => {
    const before = texts.get(key) ?? "";
    // Half a character reads as U+FFFD until it is whole: what has left cannot be taken back.
    const text = last ? said : said.replace(/\ufffd+$/, "");
    if (text === "" || before.startsWith(text)) return "";
    // A text that does not go on from the one before it is a delta after all; nothing of it may be lost.
    const more = text.startsWith(before) ? text.slice(before.length) : text;
    texts.set(key, before + more);
    return more;
  };

  const callOf = (value: unknown, place: number): unknown => {
    if (!isObject(value)) return value;
    const nested = (["function", "custom"] as const).find((level) => isObject(value[level]));
    const body = nested === undefined ? value : (value[nested] as JsonObject);
    const index = Number.isInteger(value["index"]) ? (value["index"] as number) : place;
    const member = typeof body["input"] === "string" ? "input" : "arguments";
    const args = body[member];
    if (args === undefined || args === null) return { ...value, index };
    const more = newOf(`call ${index}`, typeof args === "string" ? args : JSON.stringify(args));
    return nested === undefined
      ? { ...value, index, [member]: more }
      : { ...value, index, [nested]: { ...body, [member]: more } };
  };

  const newDelta = (said: JsonObject, last: boolean): JsonObject => {
    const delta: JsonObject = { ...said };
    for (const key of TEXTS) if (said[key] !== undefined) delta[key] = newOf(key, textOf(said[key]) ?? "", last);
    const { tool_calls: calls, function_call: call } = said;
    if (Array.isArray(calls)) delta["tool_calls"] = withPlaces(calls).map(callOf);
    if (isObject(call) && typeof call["arguments"] === "string")
      delta["function_call"] = { ...call, arguments: newOf("function_call", call["arguments"]) };
    return delta;
  };

  /** Tokens that have been told are told again, or are not: those at the head of the list are compared. */
  const newTokens = (list: unknown): unknown => {
    if (!Array.isArray(list)) return list;
    const said = list.map((entry) => JSON.stringify(entry));
    const repeated = said.length >= tokens.length && tokens.every((token, i) => token === said[i]);
    const fresh = repeated ? list.slice(tokens.length) : list;
    tokens.push(...said.slice(said.length - fresh.length));
    return fresh;
  };

  return (given) => {
    const { message: _message, text: _text, logprobs, ...wire } = given;
    const said = deltaOf(given).delta;
    const delta = newDelta(said, wire["finish_reason"] !== null && wire["finish_reason"] !== undefined);
    const told = typeof logprobs === "object" && logprobs !== null && !JSON.isRawJSON(logprobs) ? said : delta;
    const known = chatLogprobs(logprobs, textOf(told["content"]) ?? "");
    return {
      ...wire,
      delta,
      ...(logprobs === undefined ? {} : { logprobs: known && { ...known, content: newTokens(known["content"]) } }),
    };
  };
}

/** Where all calls have the same index, the one that counts is their place. */
function withPlaces(calls: readonly unknown[]): unknown[] {
  const indexes = calls.map((call) => (isObject(call) ? call["index"] : undefined));
  if (new Set(indexes).size === calls.length) return [...calls];
  return calls.map((call, index) => (isObject(call) ? { ...call, index } : call));
}
