import { gatewayError, type GatewayError } from "../errors.ts";
import { isObject, type JsonObject, parseTolerant } from "../json/lossless.ts";
import { DONE } from "../sse/encode.ts";
import type { ServerSentEvent } from "../sse/decode.ts";
import { invalidAnswer, readReport, toGatewayError, type UpstreamReport } from "../upstream-error.ts";

/** Why an answer failed: the error for the client and, where the upstream gave a reason, all that it said. */
export interface Failure {
  readonly error: GatewayError;
  readonly report?: UpstreamReport;
}

export function failureFromBody(status: number | undefined, body: string): Failure {
  const report = readReport(status, body);
  return { error: toGatewayError(report), report };
}

/** What one event of an upstream is. `skip`: JSON that is no chunk and says nothing (`{}`, null, a ping). */
export type Part =
  | { readonly kind: "chunk"; readonly chunk: JsonObject; readonly legal: boolean; readonly failure?: Failure }
  | { readonly kind: "error"; readonly failure: Failure }
  | { readonly kind: "done" }
  | { readonly kind: "skip" };

const SKIP: Part = { kind: "skip" };

export function parsePart(event: ServerSentEvent): Part {
  if (event.error !== undefined) return { kind: "error", failure: failureFromBody(undefined, event.error) };
  const { data } = event;
  if (data.trim() === DONE) return { kind: "done" };
  if (data.trim() === "") return SKIP;
  const parsed = parseTolerant(data);
  if (parsed === undefined) {
    // What was cut off by the end of the body was never an event; the end itself is the fault to report.
    if (!event.complete) return SKIP;
    const looksLikeJson = /^\s*[[{"]/.test(data);
    return {
      kind: "error",
      failure: looksLikeJson ? { error: invalidAnswer("an event that is not JSON") } : failureFromBody(undefined, data),
    };
  }
  const { legal } = parsed;
  const value = onlyOne(parsed.value);
  if (event.event === "error") return { kind: "error", failure: failureFromBody(undefined, data) };
  if (!isObject(value)) return SKIP;
  if (isErrorBody(value)) {
    const failure = failureFromBody(undefined, data);
    // OpenRouter puts the error and the last delta into one frame; clients need two.
    return Array.isArray(value["choices"]) && value["choices"].length > 0
      ? { kind: "chunk", chunk: value, legal: false, failure }
      : { kind: "error", failure };
  }
  return hasAnswer(value) ? { kind: "chunk", chunk: value, legal } : SKIP;
}

/** Some servers say their errors as a list of one. */
const onlyOne = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 && isObject(value[0]) && isErrorBody(value[0]) ? value[0] : value;

/** Whether a 200's JSON is an error all the same. */
export function isErrorBody(value: JsonObject): boolean {
  if (value["error"] !== undefined && value["error"] !== null && value["error"] !== false) return true;
  if (typeof value["object"] === "string" && value["object"].toLowerCase() === "error") return true;
  if (value["type"] === "error") return true;
  if (hasAnswer(value)) return false;
  return value["detail"] !== undefined || Array.isArray(value["errors"]) || typeof value["message"] === "string";
}

const hasAnswer = (value: JsonObject): boolean => Array.isArray(value["choices"]) || isObject(value["usage"]);

/** The failure of a choice whose finish says that the upstream gave up. */
export function failedFinish(wire: JsonObject): Failure {
  if (isObject(wire["error"])) return failureFromBody(undefined, JSON.stringify({ error: wire["error"] }));
  const word = typeof wire["finish_reason"] === "string" ? wire["finish_reason"].slice(0, 40) : "";
  return {
    error: gatewayError("upstream_failed", `The upstream gave this answer up (finish_reason ${JSON.stringify(word)}).`),
  };
}
