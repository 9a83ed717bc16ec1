import { concat } from "../bytes.ts";

/**
 * The event stream format, fed with bytes in any split: https://html.spec.whatwg.org/multipage/server-sent-events.html
 * One deviation, because real servers need it: at the end of the stream an event without its blank line is still given out
 * (marked `complete: false`); whether it is whole is for the reader of its data to say.
 */
export interface ServerSentEvent {
  readonly data: string;
  /** The `event` field; "" when there was none, which the standard calls `message`. */
  readonly event: string;
  /** The `error` field of older llama.cpp servers; no other event source sends one. */
  readonly error: string | undefined;
  readonly complete: boolean;
  /** Where the event stands in `Decoded.text`, if it stands there exactly as `encodeEvent` would write it; else -1. */
  readonly start: number;
  readonly end: number;
}

export interface Decoded {
  readonly events: readonly ServerSentEvent[];
  /** All whole lines that were decoded in this call. */
  readonly text: string;
  /** Whether `text` is just the bytes of this call, so that they can leave in its place. */
  readonly aligned: boolean;
}

export interface SseDecoder {
  /** Decodes the bytes of one read. The buffer may be reused afterwards. Undefined: an event has outgrown `maxEventBytes`. */
  feed(bytes: Uint8Array): Decoded | undefined;
  /** The body has ended: gives out what was not closed by a blank line. */
  flush(): Decoded;
}

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = "\ufeff";
const REPLACEMENT = "\ufffd";

export function createSseDecoder(maxEventBytes: number): SseDecoder {
  // A line can be cut anywhere, a character too; but no byte of a longer UTF-8 sequence looks like LF or CR. So bytes are
  // held back to the last line end, and what is decoded is always whole.
  const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  let tail: Uint8Array[] = [];
  let tailBytes = 0;
  let first = true;
  let afterCr = false;

  // The buffers of the standard, which outlive a read. Lines are kept apart: joining them one by one would be quadratic.
  let data: string[] = [];
  let dataLength = 0;
  let event = "";
  let error: string | undefined;
  let pending = false;

  const dispatch = (into: ServerSentEvent[], complete: boolean): void => {
    if (data.length > 0 || error !== undefined) {
      into.push({ data: data.join("\n"), event, error, complete, start: -1, end: -1 });
    }
    data = [];
    dataLength = 0;
    event = "";
    error = undefined;
    pending = false;
  };

  const takeLine = (line: string, into: ServerSentEvent[]): void => {
    if (line === "") return dispatch(into, true);
    const colon = line.indexOf(":");
    // "If the line starts with a U+003A COLON character (:), ignore the line."
    if (colon === 0) return;
    pending = true;
    const field = colon < 0 ? line : line.slice(0, colon);
    // "If value starts with a U+0020 SPACE character, remove it from value."
    const from = line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1;
    const value = colon < 0 ? "" : line.slice(from);
    if (field === "data") {
      data.push(value);
      dataLength += value.length;
    } else if (field === "event") event = value;
    else if (field === "error") error = value;
  };

  const takeText = (text: string): ServerSentEvent[] => {
    const events: ServerSentEvent[] = [];
    let at = afterCr && text.charCodeAt(0) === LF ? 1 : 0;
    if (text.length > 0) afterCr = false;
    let nextCr = text.indexOf("\r");
    while (at < text.length) {
      if (nextCr >= 0 && nextCr < at) nextCr = text.indexOf("\r", at);
      let end = text.indexOf("\n", at);
      // Nearly every event of nearly every server: one data line and its blank line, ended by LF.
      if (nextCr < 0 && !pending && end >= 0 && text.charCodeAt(end + 1) === LF && text.startsWith("data: ", at)) {
        events.push({
          data: text.slice(at + 6, end),
          event: "",
          error: undefined,
          complete: true,
          start: at,
          end: end + 2,
        });
        at = end + 2;
        continue;
      }
      if (nextCr >= 0 && (end < 0 || nextCr < end)) end = nextCr;
      if (end < 0) end = text.length;
      takeLine(text.slice(at, end), events);
      at = end + 1;
      if (text.charCodeAt(end) !== CR) continue;
      if (text.charCodeAt(at) === LF) at++;
      else if (at === text.length) afterCr = true;
    }
    return events;
  };

  /** "one leading U+FEFF BYTE ORDER MARK character must be ignored": the very first only, later ones are text. */
  const withoutMark = (text: string): string => {
    if (!first || text === "") return text;
    first = false;
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  };

  return {
    feed(bytes): Decoded | undefined {
      const cut = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
      const rest = bytes.length - cut;
      if (tailBytes + dataLength + rest > maxEventBytes) return undefined;
      if (cut === 0) {
        if (rest > 0) tail.push(bytes.slice());
        tailBytes += rest;
        return { events: [], text: "", aligned: false };
      }
      const alone = tailBytes === 0;
      const head = bytes.subarray(0, cut);
      const decoded = utf8.decode(alone ? head : concat([...tail, head]));
      tail = rest > 0 ? [bytes.slice(cut)] : [];
      tailBytes = rest;
      const text = withoutMark(decoded);
      // A replacement character may stand for a broken byte, which must not leave.
      const faithful = decoded.length === bytes.length || !decoded.includes(REPLACEMENT);
      return {
        events: takeText(text),
        text,
        aligned: alone && rest === 0 && faithful && text.length === decoded.length,
      };
    },

    flush(): Decoded {
      const text = withoutMark(utf8.decode(concat(tail)));
      tail = [];
      tailBytes = 0;
      const events = takeText(text);
      dispatch(events, false);
      return { events, text, aligned: false };
    },
  };
}
