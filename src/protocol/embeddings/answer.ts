import type { WholeAnswer } from "../answer-form.ts";
import { failureFromBody, isErrorBody, type Failure } from "../chat/part.ts";
import type { Identity } from "../chat/types.ts";
import { isObject, type JsonObject, parseTolerant } from "../json/lossless.ts";
import { err, ok, type Result } from "../result.ts";
import { invalidAnswer } from "../upstream-error.ts";
import { sumOfUsages } from "../usage-sum.ts";
import type { VectorFormat } from "./request.ts";
import { decodeVector, encodeVector } from "./vector.ts";

export interface VectorShape {
  readonly format: VectorFormat;
  /** How many embeddings there have to be; undefined: as many as come. */
  readonly count: number | undefined;
}

/**
 * Holds one answer of `/embeddings` to the contract. Above all each embedding is what the client asked for, a list of numbers or
 * base64, whatever the server sends: SDKs decode what they asked for and do not look.
 */
export function conformEmbeddings(text: string, shape: VectorShape, identity: Identity): Result<WholeAnswer, Failure> {
  const parsed = parseTolerant(text);
  if (parsed === undefined)
    return err({ error: invalidAnswer(text.trim() === "" ? "an empty answer" : "an answer that is not JSON") });
  const { value: body, legal } = parsed;
  if (!isObject(body)) return err({ error: invalidAnswer("an answer that is no JSON object") });
  if (isErrorBody(body) && !Array.isArray(body["data"])) return err(failureFromBody(undefined, text));
  const { data } = body;
  if (!Array.isArray(data) || data.length === 0) return err({ error: invalidAnswer("an answer without embeddings") });
  if (shape.count !== undefined && data.length !== shape.count)
    return err({ error: invalidAnswer("an answer that has not one embedding for each input") });
  if (legal && isClean(body, data, shape, identity)) return ok({ body, text });
  return repaired(body, data, shape, identity);
}

function repaired(
  body: JsonObject,
  data: readonly unknown[],
  { format }: VectorShape,
  identity: Identity,
): Result<WholeAnswer, Failure> {
  const places = new Set(data.map((one) => (isObject(one) ? one["index"] : undefined)));
  const trusted = places.size === data.length && data.every((_, i) => places.has(i));
  const list: JsonObject[] = [];
  for (const [place, one] of data.entries()) {
    const wire = isObject(one) ? one : {};
    const vector = vectorAs(wire["embedding"], format);
    if (vector === undefined) return err({ error: invalidAnswer("an embedding that is neither numbers nor base64") });
    list.push({ ...wire, object: "embedding", index: trusted ? wire["index"] : place, embedding: vector });
  }
  const usage = wholeUsage(body["usage"]);
  const { error: _error, usage: _usage, ...rest } = body;
  const answer: JsonObject = {
    ...rest,
    object: "list",
    data: list.sort((a, b) => Number(a["index"]) - Number(b["index"])),
    model: identity.reportedModel ?? (isText(body["model"]) ? body["model"] : identity.model),
    ...(usage === undefined ? {} : { usage }),
  };
  return ok({ body: answer, text: JSON.stringify(answer) });
}

function vectorAs(embedding: unknown, format: VectorFormat): string | readonly unknown[] | undefined {
  if (isText(embedding)) return format === "base64" ? embedding : decodeVector(embedding);
  if (!Array.isArray(embedding) || embedding.length === 0) return undefined;
  if (format === "base64") return encodeVector(embedding);
  return embedding.every((number) => typeof number === "number") ? embedding : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isCount = (value: unknown): value is number => Number.isInteger(value);

/** Embeddings have no completion: one of the two counts is the other. */
function wholeUsage(usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return undefined;
  const { prompt_tokens, total_tokens } = usage;
  const prompt = isCount(prompt_tokens) ? prompt_tokens : total_tokens;
  const total = isCount(total_tokens) ? total_tokens : prompt_tokens;
  return isCount(prompt) && isCount(total) ? { ...usage, prompt_tokens: prompt, total_tokens: total } : undefined;
}

function isClean(
  { object, model, usage }: JsonObject,
  data: readonly unknown[],
  { format }: VectorShape,
  { reportedModel }: Identity,
): boolean {
  if (object !== "list" || !isText(model) || (reportedModel !== undefined && model !== reportedModel)) return false;
  if (!isObject(usage) || !isCount(usage["prompt_tokens"]) || !isCount(usage["total_tokens"])) return false;
  return data.every((one, place) => {
    if (!isObject(one) || one["object"] !== "embedding" || one["index"] !== place) return false;
    const { embedding } = one;
    if (format === "base64") return isText(embedding);
    return Array.isArray(embedding) && embedding.length > 0 && embedding.every((number) => typeof number === "number");
  });
}

/** The answers to the pieces of a batch, in their order, as one. */
export function joinedEmbeddings(bodies: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = bodies as [JsonObject, ...JsonObject[]];
  const data = bodies.flatMap((body) => body["data"] as JsonObject[]).map((one, index) => ({ ...one, index }));
  const usages = [first, ...rest].map(({ usage }) => (isObject(usage) ? usage : undefined));
  const { usage: _usage, ...head } = first;
  const total = sumOfUsages(usages);
  return { ...head, data, ...(total === undefined ? {} : { usage: total }) };
}
