import type { WholeAnswer } from "../answer-form.ts";
import { gatewayError } from "../errors.ts";
import {
  deeperThan,
  isObject,
  type JsonObject,
  MAX_DEPTH,
  parseLossless,
  parseTolerant,
  withoutNonFinite,
} from "../json/lossless.ts";
import { err, ok, type Result } from "../result.ts";
import { invalidAnswer } from "../upstream-error.ts";
import { parseCallDelta } from "./calls.ts";
import { finishOf, meaningOf, type Brought } from "./finish.ts";
import { failureFromBody, isErrorBody, type Failure } from "./part.ts";
import { deltaOf } from "./repair.ts";
import { textOf } from "./text.ts";
import { areChatLogprobs, chatLogprobs } from "../quirks/logprobs-in-other-shapes.ts";
import { withThoughtsApart } from "../quirks/thoughts-among-the-parts.ts";
import { createEnding } from "../text/ending.ts";
import { mayEndSpecially } from "../text/special-tokens.ts";
import { hasReasoningFields, withReasoningFields } from "./reasoning-fields.ts";
import type { AnswerShape, FinishReason, Identity } from "./types.ts";
import { isWholeUsage, wholeUsage } from "./usage.ts";

/** Holds one JSON answer to what strict clients rely on. What cannot be repaired without inventing something is a failure. */
export function conformCompletion(text: string, shape: AnswerShape, identity: Identity): Result<WholeAnswer, Failure> {
  const parsed = parseTolerant(text);
  if (parsed === undefined)
    return err({ error: invalidAnswer(text.trim() === "" ? "an empty answer" : "an answer that is not JSON") });
  const body = Array.isArray(parsed.value) && parsed.value.length === 1 ? (parsed.value[0] as unknown) : parsed.value;
  if (!isObject(body)) return err({ error: invalidAnswer("an answer that is no JSON object") });
  if (isErrorBody(body)) return err(failureFromBody(undefined, text));
  const { choices } = body;
  if (!Array.isArray(choices) || choices.length === 0)
    return err({ error: invalidAnswer("an answer without choices") });
  if (parsed.legal && body === parsed.value && isClean(body, choices, shape, identity)) return ok({ body, text });
  if (deeperThan(body, MAX_DEPTH)) return err({ error: invalidAnswer("an answer that is nested too deeply") });
  return repaired(parseLossless(parsed.legal ? text : withoutNonFinite(text)), shape, identity);
}

function repaired(value: unknown, shape: AnswerShape, identity: Identity): Result<WholeAnswer, Failure> {
  const body = (Array.isArray(value) ? value[0] : value) as JsonObject;
  const list = body["choices"] as unknown[];
  const indexes = new Set(list.map((wire) => (isObject(wire) ? wire["index"] : undefined)));
  const trusted =
    indexes.size === list.length && [...indexes].every((index) => Number.isInteger(index) && (index as number) >= 0);
  const choices: JsonObject[] = [];
  for (const [place, wire] of list.entries()) {
    const choice = isObject(wire)
      ? repairChoice(wire, shape, identity)
      : err({ error: invalidAnswer("a choice that is no object") });
    if (!choice.ok) return choice;
    choices.push({ ...choice.value, index: trusted ? choice.value["index"] : place });
  }
  const { id, created, model, usage, error: _error } = body;
  const whole = isObject(usage) ? wholeUsage(usage) : undefined;
  const { usage: _usage, error: _noError, ...rest } = body;
  const answer: JsonObject = {
    ...rest,
    id: typeof id === "string" && id !== "" ? id : identity.newId("chatcmpl-"),
    object: "chat.completion",
    created: typeof created === "number" && created > 0 ? Math.floor(created) : identity.created,
    model: identity.reportedModel ?? (typeof model === "string" && model !== "" ? model : identity.model),
    choices,
    ...(whole === undefined ? {} : { usage: whole }),
  };
  return ok({ body: answer, text: JSON.stringify(answer) });
}

function repairChoice(wire: JsonObject, shape: AnswerShape, identity: Identity): Result<JsonObject, Failure> {
  if (!isObject(wire["message"]) && !isObject(wire["delta"]) && wire["text"] === undefined) {
    return err({ error: invalidAnswer("a choice without a message") });
  }
  const raw = isObject(wire["message"]) ? withThoughtsApart(wire["message"]) : deltaOf(wire).delta;
  const { message: _message, delta: _delta, text: _text, index, logprobs, finish_reason, ...vendor } = wire;
  const meaning = meaningOf(finish_reason);
  if (meaning === undefined) {
    return err({
      error: gatewayError(
        "upstream_cut",
        "The upstream sent an answer that is not finished (it has no finish_reason).",
      ),
    });
  }
  if (meaning === "failed") return err(failedAnswer(wire));
  const read = readText(raw, meaning, shape);
  const message = repairMessage(read.message, meaning === "length", identity);
  if (message === undefined) return err({ error: invalidAnswer("a tool call without a name") });
  const reason = finishOf(read.finish, broughtBy(message, shape));
  if (reason === undefined) return err({ error: invalidAnswer("the end of a tool call without any call") });
  return ok({
    index,
    message,
    logprobs: chatLogprobs(logprobs, textOf(raw["content"]) ?? ""),
    finish_reason: reason,
    ...vendor,
  });
}

function failedAnswer(wire: JsonObject): Failure {
  if (isObject(wire["error"])) return failureFromBody(undefined, JSON.stringify({ error: wire["error"] }));
  return { error: gatewayError("upstream_failed", "The upstream gave this answer up.") };
}

/** The message as its text reads: tool calls and thoughts in it taken out, leaked special tokens gone from its end. */
function readText(
  raw: JsonObject,
  meaning: FinishReason,
  shape: AnswerShape,
): { message: JsonObject; finish: FinishReason } {
  const pass = shape.pass?.() ?? createEnding();
  const deltas = pass.take({ ...raw, content: textOf(raw["content"]) });
  const { deltas: rest, finish } = pass.end(meaning);
  let message: JsonObject = {};
  for (const { content, reasoning, tool_calls, ...other } of [...deltas, ...rest]) {
    message = { ...message, ...other };
    for (const [key, text] of [
      ["content", content],
      ["reasoning", reasoning],
    ] as const) {
      if (typeof text === "string") message[key] = `${(message[key] as string | undefined) ?? ""}${text}`;
      else if (text !== undefined && message[key] === undefined) message[key] = text;
    }
    if (tool_calls !== undefined && tool_calls !== null) {
      const elements = Array.isArray(tool_calls) ? tool_calls : [tool_calls];
      message["tool_calls"] = [...((message["tool_calls"] as unknown[] | undefined) ?? []), ...elements];
    }
  }
  return { message: withReasoningFields(message, shape.reasoning ?? "as_sent"), finish };
}

function repairMessage(raw: JsonObject, cutShort: boolean, identity: Identity): JsonObject | undefined {
  const { role: _role, content, refusal, tool_calls, function_call, ...rest } = raw;
  const elements = Array.isArray(tool_calls) ? tool_calls : isObject(tool_calls) ? [tool_calls] : [];
  const calls: JsonObject[] = [];
  const ids = new Set<string>();
  for (const element of elements) {
    const call = parseCallDelta(element);
    if (call === undefined) continue;
    if (call.name === "") return undefined;
    const id = call.id === "" || ids.has(call.id) ? identity.newId("call_") : call.id;
    ids.add(id);
    const args =
      call.args === undefined || (call.args === "" && !cutShort) ? (call.type === "function" ? "{}" : "") : call.args;
    const {
      index: _index,
      function: _function,
      custom: _custom,
      name: _name,
      arguments: _arguments,
      input: _input,
      ...vendor
    } = element as JsonObject;
    const named = call.type === "custom" ? { name: call.name, input: args } : { name: call.name, arguments: args };
    calls.push({ ...vendor, id, type: call.type, [call.type]: named });
  }
  for (const key of ["reasoning", "reasoning_content"]) {
    if (rest[key] !== undefined && rest[key] !== null) rest[key] = textOf(rest[key]);
  }
  const legacy = isObject(function_call) ? { ...function_call } : undefined;
  if (legacy !== undefined && typeof legacy["arguments"] !== "string")
    legacy["arguments"] = JSON.stringify(legacy["arguments"] ?? {});
  const text = textOf(content);
  return {
    role: "assistant",
    content: text === "" && (calls.length > 0 || legacy !== undefined) ? null : text,
    refusal: textOf(refusal),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(legacy === undefined ? {} : { function_call: legacy }),
    ...rest,
  };
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

function broughtBy(message: JsonObject, shape: AnswerShape): Brought {
  return {
    calls: Array.isArray(message["tool_calls"]) && message["tool_calls"].length > 0,
    functionCall: isObject(message["function_call"]),
    text: isText(message["content"]) || isText(message["refusal"]),
    namedTool: shape.namedTool,
  };
}

function isClean(
  body: JsonObject,
  choices: readonly unknown[],
  shape: AnswerShape,
  { reportedModel }: Identity,
): boolean {
  if (shape.pass !== undefined || (reportedModel !== undefined && body["model"] !== reportedModel)) return false;
  const { id, object, created, model, usage } = body;
  if (!isText(id) || object !== "chat.completion" || !Number.isInteger(created) || !isText(model)) return false;
  if (usage !== undefined && usage !== null && !(isObject(usage) && isWholeUsage(usage))) return false;
  return choices.every((wire, place) => isObject(wire) && wire["index"] === place && isCleanChoice(wire, shape));
}

function isCleanChoice(wire: JsonObject, shape: AnswerShape): boolean {
  const { message, logprobs, finish_reason } = wire;
  if (!isObject(message) || message["role"] !== "assistant") return false;
  if (logprobs !== null && !areChatLogprobs(logprobs)) return false;
  const { content, refusal, tool_calls, function_call, reasoning, reasoning_content } = message;
  if (!hasReasoningFields(message, shape.reasoning ?? "as_sent")) return false;
  if (typeof content === "string" && mayEndSpecially(content)) return false;
  if (![content, refusal].every((text) => text === null || typeof text === "string")) return false;
  if (![reasoning, reasoning_content].every((text) => text === undefined || text === null || typeof text === "string"))
    return false;
  if (
    tool_calls !== undefined &&
    !(Array.isArray(tool_calls) && tool_calls.length > 0 && tool_calls.every(isCleanCall) && haveOwnIds(tool_calls))
  )
    return false;
  if (content === "" && (tool_calls !== undefined || isObject(function_call))) return false;
  const meaning = meaningOf(finish_reason);
  return (
    meaning !== undefined &&
    meaning !== "failed" &&
    meaning === finish_reason &&
    finishOf(meaning, broughtBy(message, shape)) === finish_reason
  );
}

function haveOwnIds(calls: readonly unknown[]): boolean {
  return new Set(calls.map((call) => (isObject(call) ? call["id"] : undefined))).size === calls.length;
}

function isCleanCall(wire: unknown): boolean {
  if (!isObject(wire) || !isText(wire["id"]) || wire["index"] !== undefined) return false;
  if (wire["type"] === "custom") return isObject(wire["custom"]) && isText(wire["custom"]["name"]);
  const body = wire["function"];
  return wire["type"] === "function" && isObject(body) && isText(body["name"]) && isText(body["arguments"]);
}
