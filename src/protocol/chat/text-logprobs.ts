import { digitsOf, isObject, type JsonObject } from "../json/lossless.ts";

interface TokenLogprob {
  readonly token: string;
  readonly logprob: unknown;
  readonly bytes: number[] | null;
}

const utf8 = new TextEncoder();

/**
 * The logprobs of a legacy completion, four lists in step, as those of a chat. Null: there are none.
 * @param top how many alternatives of each token shall be named
 */
export function logprobsOfText(value: unknown, top: number): JsonObject | null {
  if (!isObject(value)) return null;
  const { tokens, token_logprobs, top_logprobs, text_offset: _offset, ...vendor } = value;
  // Said as in a chat already.
  if (!Array.isArray(tokens) || !Array.isArray(token_logprobs)) return value;
  const maps: unknown[] = Array.isArray(top_logprobs) ? top_logprobs : [];
  const content = tokens.slice(0, token_logprobs.length).flatMap((token: unknown, i) => {
    const logprob = token_logprobs[i] as unknown;
    // The first token of a prompt has none.
    if (typeof token !== "string" || digitsOf(logprob) === undefined) return [];
    return [{ ...entryOf(token, logprob), top_logprobs: alternatives(maps[i], top) }];
  });
  return { ...vendor, content, refusal: null };
}

function alternatives(map: unknown, top: number): TokenLogprob[] {
  if (!isObject(map)) return [];
  return Object.entries(map)
    .filter(([, logprob]) => digitsOf(logprob) !== undefined)
    .sort(([, a], [, b]) => Number(digitsOf(b)) - Number(digitsOf(a)))
    .slice(0, top)
    .map(([token, logprob]) => entryOf(token, logprob));
}

const entryOf = (token: string, logprob: unknown): TokenLogprob => ({
  token,
  logprob,
  // A part of a character has no text of its own.
  bytes: token.includes("\ufffd") ? null : [...utf8.encode(token)],
});
