import { gatewayError, type GatewayError } from "./errors.ts";
import { deeperThan, isObject, type JsonObject } from "./json/lossless.ts";
import { err, ok, type Result } from "./result.ts";

/** A request as far as every endpoint has to understand it. Everything else rides along in `text`. */
export interface RequestBody {
  /** As the client sent it. */
  readonly text: string;
  readonly body: JsonObject;
  readonly model: string;
}

const MAX_DEPTH = 128;

/** @param defaultModel the model that is meant where a request may leave it out */
export function parseRequestBody(text: string, defaultModel?: string): Result<RequestBody, GatewayError> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return err(gatewayError("invalid_json", "We could not parse the JSON body of your request."));
  }
  if (!isObject(body)) return err(gatewayError("invalid_type", "The body of the request must be a JSON object."));
  const model = body["model"] ?? defaultModel;
  if (model === undefined) return err(missing("model"));
  if (typeof model !== "string" || model.trim() === "") return err(wrong("model", "a non-empty string"));
  return ok({ text, body, model });
}

/** The same for a request that nothing else is known of. */
export function parsePlainRequest(text: string, defaultModel?: string): Result<RequestBody, GatewayError> {
  const parsed = parseRequestBody(text, defaultModel);
  const fault = parsed.ok ? faultOfDepth(parsed.value.body) : undefined;
  return fault === undefined ? parsed : err(fault);
}

/** What nests deeper than any request does is made to break something. */
export const faultOfDepth = (body: JsonObject): GatewayError | undefined =>
  deeperThan(body, MAX_DEPTH)
    ? gatewayError("invalid_value", `The body of the request is nested deeper than ${MAX_DEPTH} levels.`)
    : undefined;

/** What is wrong with the members that say how an answer is wanted, or with the whole. */
export function faultOfAnswerOptions(body: JsonObject): GatewayError | undefined {
  const { stream, n } = body;
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") return wrong("stream", "a boolean");
  if (n !== undefined && n !== null && !(Number.isInteger(n) && (n as number) > 0))
    return wrong("n", "a positive integer");
  return faultOfDepth(body);
}

/** Whether a stream shall end with a usage chunk. */
export const wantsUsage = ({ stream_options }: JsonObject): boolean =>
  isObject(stream_options) && stream_options["include_usage"] === true;

export const missing = (param: string): GatewayError =>
  gatewayError("missing_required_parameter", `Missing required parameter: '${param}'.`, param);
export const wrong = (param: string, wanted: string): GatewayError =>
  gatewayError("invalid_type", `Invalid type for '${param}': expected ${wanted}.`, param);
