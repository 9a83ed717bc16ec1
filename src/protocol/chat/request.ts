import type { GatewayError } from "../errors.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import {
  faultOfAnswerOptions,
  missing,
  parseRequestBody,
  wantsUsage,
  wrong,
  type RequestBody,
} from "../request-body.ts";
import { err, ok, type Result } from "../result.ts";
import type { AnswerShape } from "./types.ts";

/** A chat request as far as a gateway has to understand it. Everything else rides along in `text`. */
export interface ChatRequest extends RequestBody {
  readonly stream: boolean;
  readonly shape: AnswerShape;
}

/** Checks what can be known to be wrong before any upstream is asked; unknown fields, roles and parts pass. */
export function parseChatRequest(text: string): Result<ChatRequest, GatewayError> {
  const parsed = parseRequestBody(text);
  if (!parsed.ok) return parsed;
  const { body } = parsed.value;
  const { messages, stream } = body;
  if (messages === undefined || messages === null) return err(missing("messages"));
  if (!Array.isArray(messages) || messages.length === 0) return err(wrong("messages", "a non-empty array"));
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) return err(wrong(`messages[${i}]`, "an object"));
    if (typeof message["role"] !== "string") return err(wrong(`messages[${i}].role`, "a string"));
  }
  const fault = faultOfAnswerOptions(body);
  if (fault !== undefined) return err(fault);
  return ok({ ...parsed.value, stream: stream === true, shape: shapeOf(body) });
}

function shapeOf(body: JsonObject): AnswerShape {
  const { n, tools, functions, tool_choice, function_call } = body;
  return {
    n: typeof n === "number" ? n : 1,
    toolNames: [...namesOf(tools, "function"), ...namesOf(tools, "custom"), ...namesOf(functions, undefined)],
    namedTool: (isObject(tool_choice) && tool_choice["type"] !== "allowed_tools") || isObject(function_call),
    includeUsage: wantsUsage(body),
  };
}

function namesOf(list: unknown, level: string | undefined): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((tool: unknown) => {
    const named = level === undefined ? tool : isObject(tool) ? tool[level] : undefined;
    return isObject(named) && typeof named["name"] === "string" ? [named["name"]] : [];
  });
}

/** How many alternatives of each token the client wants to see; undefined: no logprobs at all. */
export function topLogprobsOf({ logprobs, top_logprobs }: JsonObject): number | undefined {
  if (logprobs !== true) return undefined;
  return typeof top_logprobs === "number" ? top_logprobs : 0;
}

/** The fields of a request that a server may refuse to stream with: what was learned of one combination says nothing of another. */
export function combinationOf(body: JsonObject): string {
  const { tools, functions, n, logprobs, response_format } = body;
  const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
  return [
    isList(tools) || isList(functions) ? "tools" : "",
    typeof n === "number" && n > 1 ? "n" : "",
    logprobs === true ? "logprobs" : "",
    isObject(response_format) && response_format["type"] !== "text" ? "response_format" : "",
  ].join("|");
}
