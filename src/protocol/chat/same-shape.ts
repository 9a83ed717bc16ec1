import type { JsonObject } from "../json/lossless.ts";
import type { Choice } from "./choice.ts";

/**
 * Nearly every chunk of a stream is the last one with another text in it. Once such a chunk has been parsed and found clean, an
 * event with the same bytes before and after the text is clean too, and need not be parsed: a burst of 5,000 events costs half.
 */
export interface SameShape {
  learn(data: string, wire: JsonObject, choice: Choice): void;
  fits(data: string): boolean;
}

const OPENING = '"delta":{"content":"';
// What ends a JSON string, begins an escape (half a character may hide in one), or must not stand in it.
const NOT_PLAIN = /["\\\u0000-\u001f]/;

export function createSameShape(): SameShape {
  let before = "";
  let after = "";
  let owner: Choice | undefined;
  return {
    learn(data, wire, choice): void {
      owner = undefined;
      const delta = wire["delta"] as JsonObject;
      const { content } = delta;
      if (typeof content !== "string" || content === "" || NOT_PLAIN.test(content) || Object.keys(delta).length !== 1)
        return;
      if (wire["finish_reason"] !== null || (wire["logprobs"] !== null && wire["logprobs"] !== undefined)) return;
      const opening = data.indexOf(OPENING);
      const at = opening + OPENING.length;
      if (opening < 0 || data.indexOf(OPENING, at) >= 0 || !data.startsWith(`${content}"`, at)) return;
      before = data.slice(0, at);
      after = data.slice(at + content.length);
      owner = choice;
    },

    fits(data): boolean {
      if (owner === undefined || owner.ended || owner.halves.size > 0) return false;
      if (data.length < before.length + after.length || !data.startsWith(before) || !data.endsWith(after)) return false;
      if (NOT_PLAIN.test(data.slice(before.length, data.length - after.length))) return false;
      return true;
    },
  };
}
