import { gatewayError, type GatewayError } from "../errors.ts";
import { deeperThan, isObject, type JsonObject } from "../json/lossless.ts";
import { err, ok, type Result } from "../result.ts";
import type { AnswerShape } from "./types.ts";

/** A chat request as far as a gateway has to understand it. Everything else rides along in `text`. */
export interface ChatRequest {
  /** The body as the client sent it. */
  readonly text: string;
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  readonly shape: AnswerShape;
}

const MAX_DEPTH = 128;

/** Checks what can be known to be wrong before any upstream is asked; unknown fields, roles and parts pass. */
export function parseChatRequest(text: string): Result<ChatRequest, GatewayError> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return err(gatewayError("invalid_json", "We could not parse the JSON body of your request."));
  }
  if (!isObject(body)) return err(gatewayError("invalid_type", "The body of the request must be a JSON object."));
  const { model, messages, stream, n } = body;
  if (model === undefined || model === null) return missing("model");
  if (typeof model !== "string" || model.trim() === "") return wrong("model", "a non-empty string");
  if (messages === undefined || messages === null) return missing("messages");
  if (!Array.isArray(messages) || messages.length === 0) return wrong("messages", "a non-empty array");
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) return wrong(`messages[${i}]`, "an object");
    if (typeof message["role"] !== "string") return wrong(`messages[${i}].role`, "a string");
  }
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") return wrong("stream", "a boolean");
  if (n !== undefined && n !== null && !(Number.isInteger(n) && (n as number) > 0))
    return wrong("n", "a positive integer");
  if (deeperThan(body, MAX_DEPTH)) {
    return err(gatewayError("invalid_value", `The body of the request is nested deeper than ${MAX_DEPTH} levels.`));
  }
  return ok({ text, body, model, stream: stream === true, shape: shapeOf(body) });
}

const missing = (param: string): Result<never, GatewayError> =>
  err(gatewayError("missing_required_parameter", `Missing required parameter: '${param}'.`, param));
const wrong = (param: string, wanted: string): Result<never, GatewayError> =>
  err(gatewayError("invalid_type", `Invalid type for '${param}': expected ${wanted}.`, param));

function shapeOf(body: JsonObject): AnswerShape {
  const { n, tools, functions, tool_choice, function_call, stream_options } = body;
  return {
    n: typeof n === "number" ? n : 1,
    toolNames: [...namesOf(tools, "function"), ...namesOf(tools, "custom"), ...namesOf(functions, undefined)],
    namedTool: (isObject(tool_choice) && tool_choice["type"] !== "allowed_tools") || isObject(function_call),
    includeUsage: isObject(stream_options) && stream_options["include_usage"] === true,
  };
}

function namesOf(list: unknown, level: string | undefined): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((tool: unknown) => {
    const named = level === undefined ? tool : isObject(tool) ? tool[level] : undefined;
    return isObject(named) && typeof named["name"] === "string" ? [named["name"]] : [];
  });
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
