import { digitsOf, isObject, type JsonObject } from "../json/lossless.ts";

export const why =
  "Together and old vLLM tell the logprobs of a chat as lists in step (`tokens`, `token_logprobs`, `top_logprobs`), others as maps " +
  "of token to logprob or as one number for the text of the delta; clients read OpenAI's `content` alone.";

// What vLLM writes for minus infinity, which JSON has no number for: some servers write null.
const LEAST = -9999;

const isNumber = (value: unknown): boolean => digitsOf(value) !== undefined;
const numberOf = (value: unknown): number => Number(digitsOf(value));

/** Whether logprobs can leave as they are: each token with a number, its bytes and a list of what else was likely. */
export function areChatLogprobs(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { content, refusal } = value;
  if (!Array.isArray(content) && !Array.isArray(refusal)) return Object.keys(value).every((key) => LISTS.has(key));
  return isEntryList(content) && isEntryList(refusal);
}

const LISTS: ReadonlySet<string> = new Set(["content", "refusal"]);

const isEntryList = (list: unknown): boolean =>
  list === null || list === undefined || (Array.isArray(list) && list.every(isEntry));

const isToken = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value["token"] === "string" && typeof value["logprob"] === "number" && hasBytes(value);

const isEntry = (value: unknown): boolean =>
  isToken(value) && Array.isArray(value["top_logprobs"]) && value["top_logprobs"].every(isToken);

const hasBytes = ({ bytes }: JsonObject): boolean => bytes === null || Array.isArray(bytes);

/** Logprobs as OpenAI writes them; null: there are none. @param text what the delta or message that they came with says */
export function chatLogprobs(value: unknown, text: string): JsonObject | null {
  if (isNumber(value)) return text === "" ? null : withContent([entryOf(text, value, undefined)]);
  if (Array.isArray(value)) return withContent(entriesOfList(value, text));
  if (!isObject(value)) return null;
  if (areChatLogprobs(value)) return value;
  const { content, refusal, tokens, token_logprobs, top_logprobs } = value;
  if (Array.isArray(content) || Array.isArray(refusal)) {
    const entries = (list: unknown): unknown => (Array.isArray(list) ? entriesOfList(list, text) : null);
    return { ...value, content: entries(content), refusal: entries(refusal) };
  }
  if (Array.isArray(tokens) && Array.isArray(token_logprobs))
    return withContent(entriesInStep(tokens, token_logprobs, top_logprobs));
  if (Array.isArray(top_logprobs)) return withContent(entriesOfList(top_logprobs, text));
  return isMap(value) ? withContent(entriesOfList([value], text)) : null;
}

const withContent = (content: JsonObject[]): JsonObject => ({ content, refusal: null });

/** Lists of which each holds one member of the tokens. The first token of a prompt has no logprob, and is no part of the answer. */
function entriesInStep(tokens: readonly unknown[], logprobs: readonly unknown[], tops: unknown): JsonObject[] {
  const entries: JsonObject[] = [];
  for (let i = 0; i < Math.min(tokens.length, logprobs.length); i++) {
    if (i === 0 && (logprobs[i] === null || logprobs[i] === undefined)) continue;
    entries.push(entryOf(wordOf(tokens[i]), logprobs[i], Array.isArray(tops) ? tops[i] : undefined));
  }
  return entries;
}

function entriesOfList(list: readonly unknown[], text: string): JsonObject[] {
  let rest = text;
  const entries: JsonObject[] = [];
  for (const value of list) {
    let entry: JsonObject | undefined;
    if (isObject(value) && value["token"] !== undefined) {
      const { token, logprob, bytes, top_logprobs, ...vendor } = value;
      entry = { ...entryOf(wordOf(token), logprob, top_logprobs, bytes), ...vendor };
    } else if (isObject(value) && isMap(value)) {
      const token = chosenIn(value, rest);
      entry = entryOf(token, value[token], value);
    } else if (isNumber(value) && list.length === 1 && text !== "") entry = entryOf(text, value, undefined);
    if (entry === undefined) continue;
    if (rest.startsWith(entry["token"] as string)) rest = rest.slice((entry["token"] as string).length);
    entries.push(entry);
  }
  return entries;
}

/** The token that was taken: the longest one that the text goes on with, else the likeliest. */
function chosenIn(map: JsonObject, text: string): string {
  const tokens = byLogprob(map).map(([token]) => token);
  const spoken = tokens.filter((token) => token !== "" && text.startsWith(token));
  return spoken.reduce((longest, token) => (token.length > longest.length ? token : longest), "") || (tokens[0] ?? "");
}

const isMap = (value: JsonObject): boolean => {
  const logprobs = Object.values(value);
  return logprobs.length > 0 && logprobs.every((logprob) => logprob === null || isNumber(logprob));
};

const byLogprob = (map: JsonObject): [string, unknown][] =>
  Object.entries(map).sort(([, a], [, b]) => rankOf(b) - rankOf(a));

const rankOf = (logprob: unknown): number => (isNumber(logprob) ? numberOf(logprob) : LEAST);

function entryOf(token: string, logprob: unknown, tops: unknown, bytes?: unknown): JsonObject {
  return { ...tokenOf(token, logprob, bytes), top_logprobs: topOf(tops, token) };
}

function topOf(tops: unknown, token: string): JsonObject[] {
  if (Array.isArray(tops)) {
    return tops.filter(isObject).map(({ token: other, logprob, bytes, ...vendor }) => ({
      ...tokenOf(wordOf(other), logprob, bytes),
      ...vendor,
    }));
  }
  if (!isObject(tops) || !isMap(tops)) return [];
  const list = byLogprob(tops);
  // The token that was taken is always in the map: alone it says nothing of what else was likely.
  return list.length === 1 && list[0]?.[0] === token ? [] : list.map(([other, logprob]) => tokenOf(other, logprob));
}

const tokenOf = (token: string, logprob: unknown, bytes?: unknown): JsonObject => ({
  token,
  logprob: isNumber(logprob) ? logprob : LEAST,
  bytes: bytes === null || Array.isArray(bytes) ? bytes : bytesOf(token),
});

const wordOf = (value: unknown): string => (typeof value === "string" ? value : (digitsOf(value) ?? ""));

/** Undefined bytes stand for a character that was cut: which of its bytes the token has is not known. */
function bytesOf(token: string): number[] | null {
  return token.includes("\ufffd") ? null : [...new TextEncoder().encode(token)];
}
