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
  /** Where the event stands in the text, if it stands there exactly as `encodeEvent` would write it; else -1. */
  readonly start: number;
  readonly end: number;
}

/** Is shown the events of one call, in order. */
export interface EventVisitor {
  /** All whole lines of this call, and the bytes they were decoded from; before its events. */
  text(text: string, bytes: Uint8Array): void;
  event(event: ServerSentEvent): void;
  /**
   * May claim a stretch of the text: given the place where an event begins, answers the place behind the last of the events that
   * it knows without having them taken apart; the place itself if it knows none.
   */
  known(text: string, at: number): number;
}

export interface SseDecoder {
  /**
   * Decodes the bytes of one read, whose buffer may be reused afterwards. Answers the bytes that the text of this call was decoded
   * from, if they are valid and nothing else, so that they can leave in its place; undefined if not.
   */
  visit(bytes: Uint8Array, visitor: EventVisitor): Uint8Array | undefined;
  /** The body has ended: shows what was not closed by a blank line. */
  flush(visitor: EventVisitor): void;
  /** An event has outgrown `maxEventBytes`; nothing more is shown. */
  readonly overflown: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = "\ufeff";
const REPLACEMENT = "\ufffd";

// Only whole texts are decoded, so no state is left in it.
const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export function createSseDecoder(maxEventBytes: number): SseDecoder {
  // A line can be cut anywhere, a character too; but no byte of a longer UTF-8 sequence looks like LF or CR. So bytes are
  // held back to the last line end, and what is decoded is always whole.
  let tail: Uint8Array[] = [];
  let tailBytes = 0;
  let first = true;
  let afterCr = false;
  let overflown = false;

  // The buffers of the standard, which outlive a read. Lines are kept apart: joining them one by one would be quadratic.
  let data: string[] = [];
  let dataLength = 0;
  let event = "";
  let error: string | undefined;
  let pending = false;

  const dispatch = (visitor: EventVisitor, complete: boolean): void => {
    const isEvent = data.length > 0 || error !== undefined;
    const dispatched = { data: data.join("\n"), event, error, complete, start: -1, end: -1 };
    data = [];
    dataLength = 0;
    event = "";
    error = undefined;
    pending = false;
    if (isEvent) visitor.event(dispatched);
  };

  const takeLine = (line: string, visitor: EventVisitor): void => {
    if (line === "") return dispatch(visitor, true);
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
      dataLength += value.length + 1;
    } else if (field === "event") event = value;
    else if (field === "error") error = value;
  };

  const takeText = (text: string, bytes: Uint8Array, visitor: EventVisitor): void => {
    visitor.text(text, bytes);
    let at = afterCr && text.charCodeAt(0) === LF ? 1 : 0;
    if (text.length > 0) afterCr = false;
    let nextCr = text.indexOf("\r");
    while (at < text.length) {
      if (nextCr >= 0 && nextCr < at) nextCr = text.indexOf("\r", at);
      if (nextCr < 0 && !pending) {
        const known = visitor.known(text, at);
        if (known > at) {
          at = known;
          continue;
        }
      }
      let end = text.indexOf("\n", at);
      // Nearly every event of nearly every server: one data line and its blank line, ended by LF.
      if (nextCr < 0 && !pending && end >= 0 && text.charCodeAt(end + 1) === LF && text.startsWith("data: ", at)) {
        const start = at;
        at = end + 2;
        visitor.event({
          data: text.slice(start + 6, end),
          event: "",
          error: undefined,
          complete: true,
          start,
          end: at,
        });
        continue;
      }
      if (nextCr >= 0 && (end < 0 || nextCr < end)) end = nextCr;
      if (end < 0) end = text.length;
      takeLine(text.slice(at, end), visitor);
      at = end + 1;
      if (text.charCodeAt(end) !== CR) continue;
      if (text.charCodeAt(at) === LF) at++;
      else if (at === text.length) afterCr = true;
    }
  };

  /** "one leading U+FEFF BYTE ORDER MARK character must be ignored": the very first only, later ones are text. */
  const withoutMark = (text: string): string => {
    if (!first || text === "") return text;
    first = false;
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  };

  return {
    get overflown() {
      return overflown;
    },

    visit(bytes, visitor): Uint8Array | undefined {
      const cut = lineEnd(bytes);
      const rest = bytes.length - cut;
      if (overflown) return undefined;
      if (cut === 0) {
        if (rest > 0) tail.push(bytes.slice());
        tailBytes += rest;
        overflown = tailBytes + dataLength > maxEventBytes;
        return undefined;
      }
      const lines = tailBytes === 0 ? bytes.subarray(0, cut) : concat([...tail, bytes.subarray(0, cut)]);
      tail = rest > 0 ? [bytes.slice(cut)] : [];
      tailBytes = rest;
      const decoded = utf8.decode(lines);
      const text = withoutMark(decoded);
      takeText(text, lines, visitor);
      overflown = tailBytes + dataLength > maxEventBytes;
      // A replacement character may stand for a broken byte, which must not leave.
      const faithful = !decoded.includes(REPLACEMENT);
      return faithful && text.length === decoded.length ? lines : undefined;
    },

    flush(visitor): void {
      const rest = concat(tail);
      const text = withoutMark(utf8.decode(rest));
      tail = [];
      tailBytes = 0;
      takeText(text, rest, visitor);
      dispatch(visitor, false);
    },
  };
}

/** The place behind the last line end. */
function lineEnd(bytes: Uint8Array): number {
  let end = bytes.length;
  if (bytes[end - 1] === LF) return end;
  // A long line is searched in each of its reads: four bytes at a time, as long as none of them can be a line end.
  if (bytes.byteOffset % 4 === 0 && end >= 64) {
    const isLineEnd = (at: number): boolean => bytes[at] === LF || bytes[at] === CR;
    while (end % 4 !== 0) if (isLineEnd(--end)) return end + 1;
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, end / 4);
    let at = end / 4;
    for (;;) {
      while (at > 0 && !hasControl(words[at - 1] as number)) at--;
      end = at * 4;
      if (at === 0 || [1, 2, 3, 4].some((back) => isLineEnd(end - back))) break;
      at--;
    }
  }
  for (; end > 0; end--) {
    const byte = bytes[end - 1];
    if (byte === LF || byte === CR) return end;
  }
  return 0;
}

/** Whether one of the four bytes of a word is below 0x20 (https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord). */
const hasControl = (word: number): boolean => ((word - 0x20202020) & ~word & 0x80808080) !== 0;
