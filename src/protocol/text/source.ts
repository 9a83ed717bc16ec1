import type { Reading } from "./family.ts";
import { tagFinder } from "./tags.ts";

/** Text that is read while it comes. Every operation takes what it reads; none looks at a character twice. */
export interface TextSource {
  push(text: string): void;
  /** @param cut as for a stage */
  end(cut: boolean): void;
  /** UTF-16 units taken so far. */
  readonly position: number;
  /** The text has ended and was taken whole. */
  readonly done: boolean;
  /** The text has ended because it was cut short. */
  readonly cut: boolean;
  /** The next character, not taken; `""` at the end. */
  peek(): Reading<string>;
  space(): Reading<string>;
  /** Takes one of the tags if it stands here; of two that may, the first. */
  literal(...tags: string[]): Reading<string | undefined>;
  /** Takes characters of a name: letters, digits and `_ - . : /`. */
  word(): Reading<string>;
  /** Takes the text before the first of the tags, and the tag; without any, all text to the end. */
  until(...tags: string[]): Reading<{ readonly text: string; readonly tag: string | undefined }>;
  /** Takes a JSON object that stands here, by its braces: nobody has checked the rest. */
  object(): Reading<string | undefined>;
  /** Takes from an opening round bracket to the closing one, with Python's strings. */
  brackets(): Reading<string | undefined>;
  rest(): Reading<string>;
}

const WORD = /[^\p{L}\p{N}_\-.:/]/gu;
const NOT_SPACE = /\S/g;

export function createTextSource(): TextSource {
  let text = "";
  let at = 0;
  let before = 0;
  let ended = false;
  let cut = false;

  /** Takes characters up to the first one that the pattern finds. */
  function* upTo(pattern: RegExp): Reading<string> {
    const parts: string[] = [];
    for (;;) {
      pattern.lastIndex = at;
      const stop = pattern.exec(text)?.index;
      parts.push(take(stop ?? text.length));
      if (stop !== undefined || ended) return parts.join("");
      yield undefined;
    }
  }

  const take = (end: number): string => {
    const taken = text.slice(at, end);
    at = end;
    return taken;
  };

  function* balanced(open: string, quotes: string, opens: string, closes: string): Reading<string | undefined> {
    if ((yield* source.peek()) !== open) return undefined;
    const parts: string[] = [];
    let depth = 0;
    let quote = "";
    let escape = false;
    for (;;) {
      for (let i = at; i < text.length; i++) {
        const char = text[i] as string;
        if (escape) escape = false;
        else if (quote !== "") {
          if (char === "\\") escape = true;
          else if (char === quote) quote = "";
        } else if (quotes.includes(char)) quote = char;
        else if (opens.includes(char)) depth++;
        else if (closes.includes(char) && --depth === 0) {
          parts.push(take(i + 1));
          return parts.join("");
        }
      }
      parts.push(take(text.length));
      if (ended) return undefined;
      yield undefined;
    }
  }

  const source: TextSource = {
    push(more): void {
      before += at;
      text = text.slice(at) + more;
      at = 0;
    },
    end(wasCut): void {
      ended = true;
      cut = wasCut;
    },
    get position() {
      return before + at;
    },
    get done() {
      return ended && at >= text.length;
    },
    get cut() {
      return ended && cut;
    },
    *peek() {
      while (at >= text.length && !ended) yield undefined;
      return text.charAt(at);
    },
    space: () => upTo(NOT_SPACE),
    word: () => upTo(WORD),
    *literal(...tags) {
      next: for (;;) {
        for (const tag of tags) {
          if (text.startsWith(tag, at)) {
            at += tag.length;
            return tag;
          }
          if (!ended && text.length - at < tag.length && tag.startsWith(text.slice(at))) {
            yield undefined;
            continue next;
          }
        }
        return undefined;
      }
    },
    *until(...tags) {
      const finder = tagFinder(tags);
      const parts: string[] = [];
      for (;;) {
        const found = finder.find(text, at);
        if (found !== undefined) {
          parts.push(take(found.index));
          at += found.tag.length;
          return { text: parts.join(""), tag: found.tag };
        }
        parts.push(take(ended ? text.length : Math.max(at, finder.holdAt(text))));
        if (ended) return { text: parts.join(""), tag: undefined };
        yield undefined;
      }
    },
    object: () => balanced("{", '"', "{[", "}]"),
    brackets: () => balanced("(", "\"'", "([{", ")]}"),
    *rest() {
      const parts: string[] = [];
      for (;;) {
        parts.push(take(text.length));
        if (ended) return parts.join("");
        yield undefined;
      }
    },
  };
  return source;
}
