import { isObject, type JsonObject } from "../json/lossless.ts";

/** Counts tokens over the chunks of one stream: which of the usages that went by is the usage of the answer. */
export interface UsageAccount {
  /** A usage that came on a chunk; `alone` when the chunk had no choices. */
  add(usage: JsonObject, alone: boolean, finished: number, expected: number): void;
  total(): JsonObject | undefined;
}

/**
 * Servers count cumulatively, so the last usage wins. llama.cpp alone sends one choice-less usage chunk per choice, each with its
 * own count, the first of them before the other choices have ended: those are added up, but for the prompt, which is one.
 */
export function createUsageAccount(): UsageAccount {
  const perChoice: JsonObject[] = [];
  let last: JsonObject | undefined;
  return {
    add(usage, alone, finished, expected): void {
      if (alone && finished > perChoice.length && finished < expected) perChoice.push(usage);
      else last = usage;
    },
    total(): JsonObject | undefined {
      const counts = last === undefined ? perChoice : [...perChoice, last];
      return perChoice.length === 0 ? wholeUsage(last) : wholeUsage(counts.reduce(sum));
    },
  };
}

const isCount = (value: unknown): value is number => Number.isInteger(value);
const countOf = (value: unknown): number | undefined =>
  isCount(value) ? value : typeof value === "string" && /^\d+$/.test(value) ? Number(value) : undefined;

/** Whether a usage has the three counts that every client reads. */
export function isWholeUsage(usage: JsonObject): boolean {
  return isCount(usage["prompt_tokens"]) && isCount(usage["completion_tokens"]) && isCount(usage["total_tokens"]);
}

/** A usage with all three counts, where two of them give the third. A count that nobody measured is not made up: no usage then. */
export function wholeUsage(usage: JsonObject | undefined): JsonObject | undefined {
  if (usage === undefined || isWholeUsage(usage)) return usage;
  let prompt = countOf(usage["prompt_tokens"]);
  let completion = countOf(usage["completion_tokens"]);
  const total = countOf(usage["total_tokens"]);
  if (total !== undefined) {
    prompt ??= completion === undefined ? undefined : total - completion;
    completion ??= prompt === undefined ? undefined : total - prompt;
  }
  if (prompt === undefined || completion === undefined || prompt < 0 || completion < 0) return undefined;
  return { ...usage, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total ?? prompt + completion };
}

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const completion = (countOf(a["completion_tokens"]) ?? 0) + (countOf(b["completion_tokens"]) ?? 0);
  const prompt = Math.max(countOf(a["prompt_tokens"]) ?? 0, countOf(b["prompt_tokens"]) ?? 0);
  const details = [a["completion_tokens_details"], b["completion_tokens_details"]].filter(isObject);
  return {
    ...a,
    ...b,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(details.length === 2 ? { completion_tokens_details: details.reduce(sumCounts) } : {}),
  };
}

function sumCounts(a: JsonObject, b: JsonObject): JsonObject {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, isCount(a[key]) && isCount(b[key]) ? a[key] + b[key] : (b[key] ?? a[key])]),
  );
}
