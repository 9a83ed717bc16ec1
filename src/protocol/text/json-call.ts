import { isObject, type JsonObject } from "../json/lossless.ts";
import type { Reading, TextCall } from "./family.ts";
import type { TextSource } from "./source.ts";

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The members of a JSON object (that `JSON.parse` has accepted) as they are spelled; of a key that stands twice the last counts. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let key: string | undefined;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') {
      const end = stringEnd(text, at);
      if (depth === 1 && key === undefined) {
        key = JSON.parse(text.slice(at, end)) as string;
        start = text.indexOf(":", end) + 1;
      }
      at = end - 1;
    } else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]" || char === ",") {
      if (char !== ",") depth--;
      if (key === undefined || depth > 1 || (depth === 1 && char !== ",")) continue;
      members.set(key, text.slice(start, at).trim());
      key = undefined;
    }
  }
  return members;
}

/** The place behind the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** `{"name", "arguments" or "parameters"}` and its relatives as a call; undefined: it is another object. */
export function callOfJson(text: string): TextCall | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const members = membersOf(text);
  if (isObject(value["function"])) return callOfJson(members.get("function") ?? "");
  const name = [value["name"], value["function"], value["tool_name"]].find((word) => typeof word === "string");
  if (name === undefined) return undefined;
  const args = members.get("arguments") ?? members.get("parameters") ?? "";
  const id = value["id"];
  return typeof id === "string" && id !== "" ? { name, args, id } : { name, args };
}

/** Arguments as the text of a JSON object, spelled as they were; undefined: they are none. */
export function argumentsText(args: string): string | undefined {
  const text = args.trim();
  if (text === "" || text === "null") return "{}";
  if (parseObject(text) !== undefined) return text;
  if (!text.startsWith('"')) return undefined;
  try {
    const inner: unknown = JSON.parse(text);
    return typeof inner === "string" && !inner.trim().startsWith('"') ? argumentsText(inner) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads one JSON object that is a call. */
export function* jsonCall(source: TextSource): Reading<TextCall | undefined> {
  const text = yield* source.object();
  return text === undefined ? undefined : callOfJson(text);
}

/** Reads the calls of a JSON list from behind its opening bracket, up to and with the closing one. */
export function* jsonListItems(source: TextSource, callOf = callOfJson): Reading<boolean> {
  for (;;) {
    yield* source.space();
    const text = yield* source.object();
    const call = text === undefined ? undefined : callOf(text);
    if (call === undefined) return false;
    yield call;
    yield* source.space();
    const next = yield* source.literal(",", "]");
    if (next !== ",") return next === "]" || source.done;
  }
}

/** Reads `{call}` or `[{call}, ...]`, and then the tag that ends it, which the end of the text may stand for. */
export function* jsonBlock(source: TextSource, closings: readonly string[]): Reading<number | undefined> {
  yield* source.space();
  if ((yield* source.literal("[")) !== undefined) {
    if (!(yield* jsonListItems(source))) return undefined;
    return yield* closed(source, closings);
  }
  const call = yield* jsonCall(source);
  if (call === undefined) return undefined;
  const end = yield* closed(source, closings);
  if (end === undefined) return undefined;
  yield call;
  return end;
}

/** The position behind the closing tag. Without closing tags the block ends where it stands, before any white space. */
export function* closed(source: TextSource, closings: readonly string[]): Reading<number | undefined> {
  const here = source.position;
  if (closings.length === 0) return here;
  yield* source.space();
  const closing = yield* source.literal(...closings);
  return closing !== undefined || source.done ? source.position : undefined;
}
