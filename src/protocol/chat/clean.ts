import { isObject, type JsonObject } from "../json/lossless.ts";
import { meaningOf, finishOf } from "./finish.ts";
import { broughtBy, MAX_CALLS, type Choice } from "./choice.ts";
import { mayEndSpecially } from "../text/special-tokens.ts";
import { areChatLogprobs } from "../quirks/logprobs-in-other-shapes.ts";
import { hasReasoningFields } from "./reasoning-fields.ts";
import { hasHalfCharacter } from "./text.ts";
import type { AnswerShape } from "./types.ts";

/**
 * Whether the one choice of a chunk can leave with the bytes it came with: everything the strictest client looks at is as OpenAI
 * sends it. A false here costs a repair, a wrong true costs a client its answer.
 */
export function isCleanChoice(wire: JsonObject, choice: Choice, shape: AnswerShape): boolean {
  const delta = wire["delta"];
  if (!isObject(delta) || choice.ended || choice.pass !== undefined || choice.unrepeat !== undefined) return false;
  if (!isCleanDelta(delta, choice)) return false;
  if (!hasReasoningFields(delta, shape.reasoning ?? "as_sent")) return false;
  if (typeof delta["content"] === "string" && mayEndSpecially(delta["content"])) return false;
  const calls = delta["tool_calls"];
  if (calls !== undefined && !isCleanCallList(calls, choice)) return false;
  const { logprobs } = wire;
  if (logprobs !== undefined && logprobs !== null && !areChatLogprobs(logprobs)) return false;
  return wire["finish_reason"] === null || isCleanFinish(wire["finish_reason"], delta, choice, shape);
}

const TEXT_MEMBERS = ["content", "refusal", "reasoning", "reasoning_content"];

function isCleanDelta(delta: JsonObject, choice: Choice): boolean {
  if (choice.started ? delta["role"] !== undefined : delta["role"] !== "assistant") return false;
  for (const key of Object.keys(delta)) {
    const value = delta[key];
    if (value === null) {
      if (key !== "content" && key !== "refusal") return false;
    } else if (TEXT_MEMBERS.includes(key)) {
      if (typeof value !== "string" || (value !== "" && hasHalfCharacter(value))) return false;
    }
  }
  if (choice.halves.size > 0) return false;
  const call = delta["function_call"];
  return (
    call === undefined ||
    (isObject(call) && !Object.values(call).includes(null) && !(choice.functionName && "name" in call))
  );
}

function isCleanCallList(calls: unknown, choice: Choice): boolean {
  if (!Array.isArray(calls) || calls.length !== 1) return false;
  const wire: unknown = calls[0];
  if (!isObject(wire) || !Number.isInteger(wire["index"])) return false;
  const body = wire["function"];
  if (!isObject(body) || hasNull(wire) || hasNull(body)) return false;
  const args = body["arguments"];
  if (args !== undefined && (typeof args !== "string" || (args !== "" && hasHalfCharacter(args)))) return false;
  const open = choice.calls[wire["index"] as number];
  if (open === undefined) {
    const { id, type } = wire;
    const { name } = body;
    return (
      wire["index"] === choice.calls.length &&
      choice.calls.length < MAX_CALLS &&
      choice.calls.every((call) => call.out !== undefined && call.id !== id) &&
      typeof id === "string" &&
      id !== "" &&
      type === "function" &&
      typeof name === "string" &&
      name !== "" &&
      !choice.isPartialName(name)
    );
  }
  const isPlain = wire["id"] === undefined && wire["type"] === undefined && body["name"] === undefined;
  return (
    isPlain &&
    open.out === wire["index"] &&
    open.upstreamIndex === open.out &&
    choice.calls.findLast((call) => call.upstreamIndex === open.out) === open
  );
}

const hasNull = (value: JsonObject): boolean => Object.values(value).includes(null);

function isCleanFinish(raw: unknown, delta: JsonObject, choice: Choice, shape: AnswerShape): boolean {
  const meaning = meaningOf(raw);
  if (meaning === undefined || meaning === "failed" || meaning !== raw) return false;
  const brought = broughtBy(choice, shape);
  const now = {
    ...brought,
    calls: brought.calls || Array.isArray(delta["tool_calls"]),
    functionCall: brought.functionCall || isObject(delta["function_call"]),
    text: brought.text || (typeof delta["content"] === "string" && delta["content"] !== ""),
  };
  if (finishOf(meaning, now) !== raw) return false;
  if (raw === "length") return true;
  const calls = delta["tool_calls"];
  const last = Array.isArray(calls) && isObject(calls[0]) ? calls[0] : undefined;
  const body = isObject(last?.["function"]) ? last["function"] : undefined;
  const bringsArguments = typeof body?.["arguments"] === "string" && body["arguments"] !== "";
  // A call without arguments is given `{}` before it ends.
  const open = choice.calls.filter((call) => call.args === "" && !(bringsArguments && call.out === last?.["index"]));
  const opensEmpty = last !== undefined && choice.calls[last["index"] as number] === undefined && !bringsArguments;
  return open.length === 0 && !opensEmpty;
}
