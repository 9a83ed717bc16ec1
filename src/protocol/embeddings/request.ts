import { gatewayError, type GatewayError } from "../errors.ts";
import { membersOf } from "../json/members.ts";
import { faultOfDepth, missing, parseRequestBody, wrong, type RequestBody } from "../request-body.ts";
import { err, ok, type Result } from "../result.ts";

/** OpenAI's default, where a request says none, is a list of numbers. */
export type VectorFormat = "float" | "base64";

/** A request for embeddings as far as a gateway has to understand it. */
export interface EmbeddingsRequest extends RequestBody {
  readonly format: VectorFormat;
  /** The inputs one by one; undefined if the request says them in a way of its own (`messages`), which passes as it is. */
  readonly inputs: readonly unknown[] | undefined;
}

export function parseEmbeddingsRequest(text: string): Result<EmbeddingsRequest, GatewayError> {
  const parsed = parseRequestBody(text);
  if (!parsed.ok) return parsed;
  const { body } = parsed.value;
  const { input, messages, encoding_format: format } = body;
  if (format !== undefined && format !== null && format !== "float" && format !== "base64") {
    const what = "Invalid value for 'encoding_format': expected 'float' or 'base64'.";
    return err(gatewayError("invalid_value", what, "encoding_format"));
  }
  const own = (input === undefined || input === null) && Array.isArray(messages);
  if (!own && (input === undefined || input === null)) return err(missing("input"));
  const inputs = own ? undefined : inputsOf(input);
  if (!own && inputs === undefined)
    return err(wrong("input", "a non-empty string, list of strings or list of token ids"));
  const fault = faultOfDepth(body);
  if (fault !== undefined) return err(fault);
  return ok({ ...parsed.value, format: format === "base64" ? "base64" : "float", inputs });
}

/** A text or a list of token ids is one input; what else a list holds (texts, lists of ids, parts of a vendor's) is one each. */
function inputsOf(input: unknown): unknown[] | undefined {
  if (typeof input === "string") return [input];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  return input.every(Number.isInteger) ? [input] : input;
}

/** The bodies that ask for a batch piece by piece, `most` inputs each; the body itself, if it fits. */
export function splitInputs(text: string, inputs: readonly unknown[] | undefined, most: number): string[] {
  if (inputs === undefined || inputs.length <= most) return [text];
  const bodies: string[] = [];
  for (let at = 0; at < inputs.length; at += most) {
    const members = membersOf(text);
    members.set("input", JSON.stringify(inputs.slice(at, at + most)));
    bodies.push(members.toText());
  }
  return bodies;
}
