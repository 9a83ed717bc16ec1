import { isObject, type JsonObject } from "../json/lossless.ts";
import { encodeEvent } from "../sse/encode.ts";
import type { Choice } from "./choice.ts";

/** Is shown what becomes of a run of events. */
export interface RunSink {
  /** The events that stand in the text from `start` to `end` leave as they are. */
  unchanged(start: number, end: number): void;
  /** These events leave in the place of others. */
  changed(events: string): void;
}

/**
 * Nearly every chunk of a stream is the last one with another text in it. Once such a chunk has been parsed, an event with the same
 * bytes before and after its text has the same fate, and need not be parsed: it leaves as it is if the other one was clean, or with
 * its text in the place of the other's if that was repaired. A burst costs a fifth.
 */
export interface SameShape {
  /** Remembers the shape of a clean chunk, if it brings nothing but text. */
  learn(data: string, wire: JsonObject, choice: Choice): void;
  /** The same for a chunk that was repaired. @param written the one chunk that left in its place */
  learnRepaired(data: string, wire: JsonObject, choice: Choice, written: JsonObject): void;
  /** How far the text goes on with events of that shape from `at`, where an event begins. Calls `took` for each. */
  run(text: string, at: number, sink: RunSink, took: () => void): number;
}

const TEXTS = ["content", "reasoning", "reasoning_content", "refusal"];
// What ends a JSON string, begins an escape (half a character may hide in one) or a special token, or must not stand in it.
// oxlint-disable-next-line no-control-regex
const NOT_PLAIN = /["\\<\u0000-\u001f]/;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;
/** What may follow a backslash: escapes that have but one spelling. Half a character can hide in a `\\u`. */
const ESCAPED = '"\\\\bfnrt';
const MAX_CONTENT = 1000;
/** Stands for the text while a chunk is written. */
const PLACE = "\ue000text\ue001";

export function createSameShape(): SameShape {
  let before = "";
  let after = "";
  // What is written around the texts; undefined: the event leaves as it came.
  let written: readonly string[] | undefined;
  let owner: Choice | undefined;
  // Facts about the text last looked at.
  let known = "";
  let seenTo = 0;
  let hasControl = false;
  let backslash = -1;
  let lineEnd = -1;
  let tag = -1;

  const remember = (data: string, at: number, length: number, choice: Choice, pieces?: readonly string[]): void => {
    before = `data: ${data.slice(0, at)}`;
    after = `${data.slice(at + length)}\n\n`;
    owner = choice;
    written = pieces;
  };

  return {
    learn(data, wire, choice): void {
      const delta = wire["delta"] as JsonObject;
      const { content } = delta;
      if (!isPlain(content) || Object.keys(delta).length !== 1 || !saysNoMore(wire)) return;
      const at = placeOf(data, "content", content);
      if (at >= 0) remember(data, at, content.length, choice);
    },

    learnRepaired(data, wire, choice, chunk): void {
      const { delta } = wire;
      const [out] = chunk["choices"] as [JsonObject];
      const said = out["delta"] as JsonObject;
      if (!isObject(delta) || choice.unrepeat !== undefined || "role" in said) return;
      if (!saysNoMore(wire) || out["logprobs"] !== null) return;
      const [name = "", ...others] = TEXTS.filter((one) => !isNothing(delta[one]) && delta[one] !== "");
      const text = delta[name];
      if (others.length > 0 || !isPlain(text) || bringsMore(delta)) return;
      const at = placeOf(data, name, text);
      if (at < 0) return;
      const names = TEXTS.filter((one) => said[one] === text);
      const template = { ...said, ...Object.fromEntries(names.map((one) => [one, PLACE])) };
      const pieces = encodeEvent(JSON.stringify({ ...chunk, choices: [{ ...out, delta: template }] })).split(PLACE);
      if (names.length > 0 && pieces.length === names.length + 1) remember(data, at, text.length, choice, pieces);
    },

    run(text, at, sink, took): number {
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
      let events = "";
      for (let more = true; more;) {
        const content = seenTo + before.length;
        let quote = text.indexOf('"', content);
        if (backslash >= 0 && backslash < content) backslash = text.indexOf("\\", content);
        while (backslash >= 0 && backslash < quote && ESCAPED.includes(text.charAt(backslash + 1))) {
          if (backslash + 1 === quote) quote = text.indexOf('"', quote + 1);
          backslash = text.indexOf("\\", backslash + 2);
        }
        // An event ends with its line: a quote behind it belongs to another.
        if (lineEnd < content) lineEnd = text.indexOf("\n", content);
        // A special token may begin here.
        if (tag >= 0 && tag < content) tag = text.indexOf("<", content);
        if (tag >= 0 && tag < quote) break;
        if (quote < 0 || lineEnd < quote || (backslash >= 0 && backslash < quote)) break;
        // That a text is empty is told otherwise than what it says.
        if (written !== undefined && quote === content) break;
        // Comparing slices is a memory comparison; `startsWith` goes character by character.
        more = text.slice(quote, quote + between.length) === between;
        if (!more && !text.startsWith(after, quote)) break;
        if (written !== undefined) events += written.join(text.slice(content, quote));
        seenTo = quote + after.length;
        took();
      }
      if (events !== "") sink.changed(events);
      else if (seenTo > at) sink.unchanged(at, seenTo);
      return seenTo;
    },
  };
}

const isPlain = (text: unknown): text is string =>
  typeof text === "string" && text !== "" && text.length <= MAX_CONTENT && !NOT_PLAIN.test(text);

const isNothing = (value: unknown): boolean => value === null || value === undefined;

/** Whether a choice says nothing but its delta. */
const saysNoMore = (wire: JsonObject): boolean => isNothing(wire["finish_reason"]) && isNothing(wire["logprobs"]);

/** Whether a delta brings what changes more than a text. */
const bringsMore = ({ tool_calls, function_call, audio }: JsonObject): boolean =>
  !(isNothing(tool_calls) || (Array.isArray(tool_calls) && tool_calls.length === 0)) ||
  !isNothing(function_call) ||
  !isNothing(audio);

/** Where the text of a member stands, if no other member can be meant: a key that is spelled with an escape is not what it looks like. */
function placeOf(data: string, name: string, text: string): number {
  const key = `"${name}"`;
  const found = data.indexOf(key);
  const colon = found + key.length;
  if (found < 0 || data.indexOf(key, colon) >= 0 || data.includes("\\")) return -1;
  const at = colon + (data.startsWith(': "', colon) ? 3 : 2);
  return data.startsWith(`:"${text}"`, colon) || data.startsWith(`: "${text}"`, colon) ? at : -1;
}
