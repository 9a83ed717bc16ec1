import type { Reading, TextCall, ToolFamily } from "../family.ts";
import type { TextSource } from "../source.ts";
import { objectText, typedValue } from "../typed-value.ts";

const MAX_DEPTH = 64;

/** `{key:value,...}` with strings between quote tags, as JSON text; undefined: it is something else. */
function jsonText(text: string, quote: string): string | undefined {
  let at = 0;
  const stop = /[,:{}[\]]/g;

  const string = (): string | undefined => {
    const end = text.indexOf(quote, at + quote.length);
    if (end < 0) return undefined;
    const value = text.slice(at + quote.length, end);
    at = end + quote.length;
    return value;
  };
  const bareWord = (): string => {
    stop.lastIndex = at;
    const end = stop.exec(text)?.index ?? text.length;
    const word = text.slice(at, end).trim();
    at = end;
    return word;
  };
  const space = (): void => {
    while (/\s/.test(text.charAt(at))) at++;
  };
  const value = (depth: number): string | undefined => {
    space();
    if (depth > MAX_DEPTH) return undefined;
    if (text.startsWith(quote, at)) {
      const spelled = string();
      return spelled === undefined ? undefined : JSON.stringify(spelled);
    }
    const open = text.charAt(at);
    if (open !== "{" && open !== "[") return typedValue(bareWord(), undefined);
    return group(open, depth);
  };
  const group = (open: string, depth: number): string | undefined => {
    const close = open === "{" ? "}" : "]";
    const items: string[] = [];
    const members: [string, string][] = [];
    at++;
    for (let first = true; ; first = false) {
      space();
      if (first && text.charAt(at) === close) break;
      const key = open === "[" ? "" : text.startsWith(quote, at) ? string() : bareWord();
      if (open === "{" && text.charAt(at++) !== ":") return undefined;
      const item = value(depth + 1);
      if (key === undefined || item === undefined) return undefined;
      if (open === "[") items.push(item);
      else members.push([key, item]);
      space();
      if (text.charAt(at) === close) break;
      if (text.charAt(at++) !== ",") return undefined;
    }
    at++;
    return open === "[" ? `[${items.join(", ")}]` : objectText(members);
  };

  space();
  const result = text.charAt(at) === "{" ? value(0) : undefined;
  return text.slice(at).trim() === "" ? result : undefined;
}

function* call(source: TextSource, closing: string, quote: string): Reading<TextCall | undefined> {
  yield* source.space();
  if ((yield* source.literal("call:")) === undefined) return undefined;
  const name = yield* source.word();
  const body = yield* source.until(closing);
  const args = body.tag === undefined && source.cut ? undefined : jsonText(body.text, quote);
  return args === undefined ? undefined : { name, args };
}

const family = (name: string, opening: string, closing: string, quote: string): ToolFamily => ({
  name,
  openings: [opening],
  *read(source) {
    const found = yield* call(source, closing, quote);
    if (found === undefined) return undefined;
    yield found;
    return source.position;
  },
});

/** `<|tool_call>call:f{s:<|"|>x<|"|>,n:1}<tool_call|>` */
export const gemma4 = family("gemma4", "<|tool_call>", "<tool_call|>", '<|"|>');

/** `<start_function_call>call:f{s:<escape>x<escape>}<end_function_call>` */
export const functionGemma = family("functiongemma", "<start_function_call>", "<end_function_call>", "<escape>");
