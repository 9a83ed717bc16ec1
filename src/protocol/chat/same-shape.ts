import type { JsonObject } from "../json/lossless.ts";
import type { Choice } from "./choice.ts";

/**
 * Nearly every chunk of a stream is the last one with another text in it. Once such a chunk has been parsed and found clean, an
 * event with the same bytes before and after its text is clean too, and need not be parsed: a burst costs a fifth.
 */
export interface SameShape {
  /** Remembers the shape of a clean chunk, if it brings nothing but text. */
  learn(data: string, wire: JsonObject, choice: Choice): void;
  /** How far the text goes on with events of that shape from `at`, where an event begins. Calls `took` for each. */
  run(text: string, at: number, took: () => void): number;
}

const OPENING = '"delta":{"content":"';
// What ends a JSON string, begins an escape (half a character may hide in one) or a special token, or must not stand in it.
// oxlint-disable-next-line no-control-regex
const NOT_PLAIN = /["\\<\u0000-\u001f]/;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;
const MAX_CONTENT = 1000;

export function createSameShape(): SameShape {
  let before = "";
  let after = "";
  let owner: Choice | undefined;
  // Facts about the text last looked at.
  let known = "";
  let seenTo = 0;
  let hasControl = false;
  let backslash = -1;
  let lineEnd = -1;
  let tag = -1;
  return {
    learn(data, wire, choice): void {
      const delta = wire["delta"] as JsonObject;
      const { content } = delta;
      if (typeof content !== "string" || content === "" || content.length > MAX_CONTENT || NOT_PLAIN.test(content))
        return;
      if (Object.keys(delta).length !== 1) return;
      if (wire["finish_reason"] !== null || (wire["logprobs"] !== null && wire["logprobs"] !== undefined)) return;
      const opening = data.indexOf(OPENING);
      const at = opening + OPENING.length;
      if (opening < 0 || data.indexOf(OPENING, at) >= 0 || !data.startsWith(`${content}"`, at)) return;
      before = `data: ${data.slice(0, at)}`;
      after = `${data.slice(at + content.length)}\n\n`;
      owner = choice;
    },

    run(text, at, took): number {
      if (
        owner === undefined ||
        owner.ended ||
        owner.halves.size > 0 ||
        owner.pass !== undefined ||
        !text.startsWith(before, at)
      )
        return at;
      if (text !== known || at < seenTo) {
        known = text;
        hasControl = CONTROL.test(text);
        backslash = text.indexOf("\\");
        lineEnd = -1;
        tag = text.indexOf("<");
      }
      if (hasControl) return at;
      seenTo = at;
      // What stands between the texts of two neighbours is compared in one go.
      const between = after + before;
      for (let more = true; more;) {
        const content = seenTo + before.length;
        const quote = text.indexOf('"', content);
        if (backslash >= 0 && backslash < content) backslash = text.indexOf("\\", content);
        // An event ends with its line: a quote behind it belongs to another.
        if (lineEnd < content) lineEnd = text.indexOf("\n", content);
        // A special token may begin here.
        if (tag >= 0 && tag < content) tag = text.indexOf("<", content);
        if (tag >= 0 && tag < quote) break;
        if (quote < 0 || lineEnd < quote || (backslash >= 0 && backslash < quote)) break;
        // Comparing slices is a memory comparison; `startsWith` goes character by character.
        more = text.slice(quote, quote + between.length) === between;
        if (!more && !text.startsWith(after, quote)) break;
        seenTo = quote + after.length;
        took();
      }
      return seenTo;
    },
  };
}
