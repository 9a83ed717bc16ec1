import { digitsOf, isObject, type JsonObject } from "../json/lossless.ts";

/** A tool call as its deltas have built it so far. */
export interface Call {
  /** The index that the upstream uses for it, if it uses one. */
  readonly upstreamIndex: number | undefined;
  /** As the upstream said it; empty until it does. */
  upstreamId: string;
  /** What the client sees: the upstream's id or one made once. */
  id: string;
  readonly type: "function" | "custom";
  name: string;
  args: string;
  /** Arguments that came before the call could leave. */
  waiting: string;
  /** The index that the client sees; undefined until the first delta has left. */
  out: number | undefined;
}

/** What one element of `tool_calls` says, in whatever spelling. */
export interface CallDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly type: "function" | "custom";
  readonly name: string;
  /** Text to append; undefined when the delta has none (null is none). */
  readonly args: string | undefined;
}

export function parseCallDelta(value: unknown): CallDelta | undefined {
  if (!isObject(value)) return undefined;
  const type = value["type"] === "custom" || isObject(value["custom"]) ? "custom" : "function";
  // Some servers leave the `function` level out.
  const body = isObject(value[type]) ? value[type] : value;
  const args = body[type === "custom" ? "input" : "arguments"];
  return {
    index: Number.isInteger(value["index"]) ? (value["index"] as number) : undefined,
    id: typeof value["id"] === "string" ? value["id"] : (digitsOf(value["id"]) ?? ""),
    type,
    name: typeof body["name"] === "string" ? body["name"] : "",
    args: typeof args === "string" ? args : args === null || args === undefined ? undefined : JSON.stringify(args),
  };
}

/**
 * The call that a delta continues; undefined when it opens a new one. A delta belongs to its index, else to its id, else to the
 * last call. At an index that is taken, a new id together with a name, or a new complete name, is a new call: servers that
 * give every call the index 0 mean it so. A new id alone is not: some servers make one for every delta.
 */
export function callOf(
  calls: readonly Call[],
  delta: CallDelta,
  isPartialName: (name: string) => boolean,
): Call | undefined {
  const call = candidate(calls, delta);
  if (call === undefined || delta.name === "" || call.name === "") return call;
  if (isPartialName(call.name) && call.args === "" && call.waiting === "") return call;
  const newId = delta.id !== "" && call.upstreamId !== "" && delta.id !== call.upstreamId;
  if (newId || delta.name !== call.name) return undefined;
  if (delta.id !== "") return call;
  // The same name again: a server that repeats it in every delta, or a second call of the same function.
  return isCompleteJson(call.args) && delta.args !== undefined && delta.args !== "" ? undefined : call;
}

function candidate(calls: readonly Call[], delta: CallDelta): Call | undefined {
  const last = calls.at(-1);
  if (last === undefined) return undefined;
  const atIndex = delta.index === undefined ? [] : calls.filter((call) => call.upstreamIndex === delta.index);
  const byId = delta.id === "" ? undefined : calls.findLast((call) => call.upstreamId === delta.id);
  if (byId !== undefined && (atIndex.length === 0 || atIndex.includes(byId))) return byId;
  if (atIndex.length > 0) return atIndex.at(-1);
  if (delta.index === undefined)
    return delta.id !== "" && delta.name === "" && last.upstreamId !== "" ? undefined : last;
  // An index never seen, and nothing else to tell a call by: the rest of the last call, unless that one is complete.
  return delta.id === "" && delta.name === "" && !isCompleteJson(last.args) ? last : undefined;
}

function isCompleteJson(text: string): boolean {
  if (text === "") return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The delta with which a call begins, as clients want it: index, id, type and name, and arguments that are a string. */
export function openingDelta(call: Call, args: string): JsonObject {
  const body = call.type === "custom" ? { name: call.name, input: args } : { name: call.name, arguments: args };
  return { index: call.out, id: call.id, type: call.type, [call.type]: body };
}

export function continuingDelta(call: Call, args: string): JsonObject {
  return { index: call.out, [call.type]: call.type === "custom" ? { input: args } : { arguments: args } };
}
