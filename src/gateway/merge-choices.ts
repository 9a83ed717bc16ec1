import { isObject, type JsonObject } from "../protocol/json/lossless.ts";
import { encodeEvent } from "../protocol/sse/encode.ts";

/** Answers with one choice each, as one answer: the head is the first one's. */
export function mergeAnswers(answers: readonly JsonObject[]): JsonObject {
  const [first = {}] = answers;
  const choices = answers.map(({ choices }, index) => ({ ...(choices as JsonObject[])[0], index }));
  const usage = mergeUsage(answers.map((answer) => answer["usage"]));
  return { ...first, choices, ...(usage === undefined ? {} : { usage }) };
}

/** Streams with one choice each, as one stream. */
export interface Merge {
  /** The events that say what a chunk of one of the streams says. @param at the index of its choice in the whole */
  take(at: number, chunk: JsonObject): string;
  /** The last events, without `[DONE]`. */
  end(): string;
}

const HEAD = ["id", "object", "created", "model"];

export function createMerge(): Merge {
  let head: JsonObject | undefined;
  const begun = new Set<number>();
  const usages: unknown[] = [];

  const write = (chunk: JsonObject, choices: readonly JsonObject[]): string => {
    head ??= Object.fromEntries(HEAD.map((name) => [name, chunk[name]]));
    return encodeEvent(JSON.stringify({ ...chunk, ...head, choices }));
  };
  const begin = (index: number): string => {
    begun.add(index);
    const delta = { role: "assistant", content: "" };
    return write({}, [{ index, delta, logprobs: null, finish_reason: null }]);
  };

  return {
    take(at, { usage, ...chunk }): string {
      const [choice] = chunk["choices"] as JsonObject[];
      if (isObject(usage)) usages.push(usage);
      if (choice === undefined) return "";
      head ??= Object.fromEntries(HEAD.map((name) => [name, chunk[name]]));
      let out = "";
      // Some clients want to see the choices begin in order.
      for (let before = 0; before < at; before++) if (!begun.has(before)) out += begin(before);
      if (!begun.has(at)) {
        begun.add(at);
        return out + write(chunk, [{ ...choice, index: at }]);
      }
      const { role, ...delta } = choice["delta"] as JsonObject;
      // The chunk with which a choice begins, of one that has been begun already.
      const nothing = role !== undefined && choice["finish_reason"] === null && !Object.values(delta).some(isSaid);
      return nothing ? out : out + write(chunk, [{ ...choice, index: at, delta }]);
    },
    end(): string {
      const usage = mergeUsage(usages);
      return usage === undefined ? "" : encodeEvent(JSON.stringify({ ...head, choices: [], usage }));
    },
  };
}

const isSaid = (value: unknown): boolean => value !== null && value !== "";

const count = (value: unknown): number => (typeof value === "number" ? value : 0);

/** All of them have read the same prompt, and each has written its own answer. */
function mergeUsage(usages: readonly unknown[]): JsonObject | undefined {
  const list = usages.filter(isObject);
  const [first] = list;
  if (first === undefined) return undefined;
  const completion = list.reduce((sum, usage) => sum + count(usage["completion_tokens"]), 0);
  const details = sumOf(list.map((usage) => usage["completion_tokens_details"]));
  return {
    ...first,
    completion_tokens: completion,
    total_tokens: count(first["prompt_tokens"]) + completion,
    ...(details === undefined ? {} : { completion_tokens_details: details }),
  };
}

function sumOf(details: readonly unknown[]): JsonObject | undefined {
  const list = details.filter(isObject);
  const [first] = list;
  if (first === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => [
      name,
      typeof value === "number" ? list.reduce((sum, one) => sum + count(one[name]), 0) : value,
    ]),
  );
}
