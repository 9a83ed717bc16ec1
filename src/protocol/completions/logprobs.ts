import { isObject, type JsonObject } from "../json/lossless.ts";

/**
 * The logprobs of legacy completions: four lists in step, `tokens`, `token_logprobs`, `top_logprobs`, `text_offset`. Some servers
 * give those of chat here (`{content: [{token, logprob, top_logprobs}]}`), which are told again. Null: there are none.
 * @param offset where the text of the first token stands in the text of the choice, in characters
 */
export function textLogprobs(value: unknown, offset: number): JsonObject | null {
  if (!isObject(value)) return null;
  if (isTextLogprobs(value)) return value;
  const { content, refusal: _refusal, ...vendor } = value;
  const entries = (content as unknown[]).filter(isObject);
  const tokens = entries.map(({ token }) => (typeof token === "string" ? token : ""));
  let at = offset;
  return {
    text_offset: tokens.map((token) => (at += characters(token)) - characters(token)),
    token_logprobs: entries.map(({ logprob }) => logprob ?? null),
    tokens,
    top_logprobs: entries.map(({ top_logprobs }) => mapOf(top_logprobs)),
    ...vendor,
  };
}

/** Whether they are told as legacy completions do, or at least not as chat does. */
export const isTextLogprobs = (value: JsonObject): boolean =>
  Array.isArray(value["tokens"]) || !Array.isArray(value["content"]);

const characters = (text: string): number => [...text].length;

function mapOf(list: unknown): JsonObject | null {
  if (!Array.isArray(list)) return null;
  const entries = list.filter(isObject).map(({ token, logprob }): [string, unknown] => [String(token), logprob]);
  // Tokens that look the same stand once, with the likelier one's value: they come best first.
  return Object.fromEntries(entries.toReversed());
}
