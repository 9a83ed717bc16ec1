import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseDecoder, type ServerSentEvent } from "../../../src/protocol/sse/decode.ts";
import { encodeEvent } from "../../../src/protocol/sse/encode.ts";
import { listDecoder, type Decoded } from "./decoded.ts";
import { anyCuts, anyLineEnd, bytesOf, bytewise, cutAt, twoWaySplits } from "./cut.ts";

const LIMIT = 16 * 1024 * 1024;
type Told = Partial<Pick<ServerSentEvent, "event" | "error" | "complete">> & { readonly data: string };

const told = ({ data, event, error, complete }: ServerSentEvent): Told => ({
  data,
  ...(event === "" ? {} : { event }),
  ...(error === undefined ? {} : { error }),
  ...(complete ? {} : { complete }),
});

function decode(parts: readonly Uint8Array[], limit = LIMIT): Told[] {
  const decoder = listDecoder(limit);
  const events: ServerSentEvent[] = [];
  for (const part of parts) {
    const decoded = decoder.feed(part);
    if (decoded === undefined) throw new Error("an event has outgrown the limit");
    events.push(...decoded.events);
  }
  return [...events, ...decoder.flush().events].map(told);
}

const decodeText = (text: string): Told[] => decode([bytesOf(text)]);
const data = (...texts: string[]): Told[] => texts.map((text) => ({ data: text }));

describe("the examples of the standard", () => {
  // https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
  it.each<[string, string, Told[]]>([
    ["three data lines are one event with two newlines", "data: YHOO\ndata: +2\ndata: 10\n\n", data("YHOO\n+2\n10")],
    [
      "four blocks: a comment, an event with an id, one that resets it, one that begins with a space",
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
      data("first event", "second event", " third event"),
    ],
    [
      "two events: an empty one and a single newline (the last block, which the standard throws away, is ours marked incomplete)",
      "data\n\ndata\ndata\n\ndata:",
      [{ data: "" }, { data: "\n" }, { data: "", complete: false }],
    ],
    ["the space after the colon is ignored if present", "data:test\n\ndata: test\n\n", data("test", "test")],
    [
      "named events of the introduction",
      "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
      [
        { data: "73857293", event: "add" },
        { data: "2153", event: "remove" },
        { data: "113411", event: "add" },
      ],
    ],
  ])("%s", (_rule, text, expected) => {
    expect(decodeText(text)).toEqual(expected);
  });
});

describe("the rules of the standard", () => {
  it.each<[string, string, Told[]]>([
    [
      "`one leading U+FEFF BYTE ORDER MARK character must be ignored if any are present`",
      "\ufeffdata: a\n\n",
      data("a"),
    ],
    ["... one only", "\ufeff\ufeffdata: a\n\n", []],
    ["... leading only: a later one is part of a field name", "data: a\n\n\ufeffdata: b\n\n", data("a")],
    ["... and text inside a value", "data: \ufeffa\n\n", data("\ufeffa")],
    ["... also before a comment", "\ufeff: hi\ndata: a\n\n", data("a")],
    ["... also alone on its line", "\ufeff\ndata: a\n\n", data("a")],
    ["lines end in LF", "data: a\n\ndata: b\n\n", data("a", "b")],
    ["lines end in CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", data("a", "b")],
    ["lines end in CR", "data: a\r\rdata: b\r\r", data("a", "b")],
    ["line ends may mix: CR LF is one end, LF CR is two", "data: a\n\rdata: b\r\n\ndata: c\r\r\n", data("a", "b", "c")],
    ["CR CR LF: a line end and a blank line, no more", "data: a\r\r\ndata: b\n\n", data("a", "b")],
    [
      "`If the line is empty, dispatch the event`: blank lines alone dispatch nothing",
      "\n\n\r\n\r\rdata: a\n\n\n\n",
      data("a"),
    ],
    [
      "`If the line starts with a U+003A COLON character (:), ignore the line`",
      ":data: a\n:\n: b\ndata: c\n:\n\n",
      data("c"),
    ],
    ["a comment between data lines does not end the event", "data: a\n: no\ndata: b\n\n", data("a\nb")],
    [
      "`Otherwise, the string is not empty but does not contain a colon: the whole line is the field name`",
      "data\n\n",
      data(""),
    ],
    [
      "`If value starts with a U+0020 SPACE character, remove it`: one, and no other white space",
      "data:  a\n\ndata:\tb\n\ndata:\u00a0c\n\n",
      data(" a", "\tb", "\u00a0c"),
    ],
    ["white space at the end belongs to the value", "data: a \n\ndata: [DONE] \n\n", data("a ", "[DONE] ")],
    ["the first colon divides, later ones are text", 'data: {"a":"b:c"}\n\n', data('{"a":"b:c"}')],
    [
      "`Field names must be matched literally, with no case folding performed`",
      "Data: a\nDATA: b\n data: c\ndata : d\ndata: e\n\n",
      data("e"),
    ],
    ["unknown fields are ignored", "datas: a\nfoo: b\ndat: c\ndata: d\nid: 1\nretry: 100\n\n", data("d")],
    ["an event name without data is no event, and is forgotten", "event: ping\n\ndata: a\n\n", data("a")],
    ["the last event name counts", "event: a\nevent: b\ndata: c\n\n", [{ data: "c", event: "b" }]],
    ["an empty event name is none", "event: a\nevent:\ndata: c\n\n", data("c")],
    [
      "`If the data buffer's last character is LF, remove it`: that one only",
      "data: a\ndata:\n\ndata:\ndata: a\n\n",
      data("a\n", "\na"),
    ],
    [
      "U+2028, U+2029, U+0085, VT and FF end no line",
      "data: a\u2028b\u2029c\u0085d\u000be\u000cf\n\n",
      data("a\u2028b\u2029c\u0085d\u000be\u000cf"),
    ],
    ["a NUL is text", "data: a\u0000b\n\n", data("a\u0000b")],
    ["id and retry without data make no event", "id: 7\nretry: 3000\n\ndata: a\n\n", data("a")],
    [
      "an `error` field, as older llama.cpp servers send it",
      'error: {"code":500}\n\n',
      [{ data: "", error: '{"code":500}' }],
    ],
    ["an `error` field beside data", "data: a\nerror: b\n\n", [{ data: "a", error: "b" }]],
    ["an `error` field without a space", "error:b\n\ndata: c\n\n", [{ data: "", error: "b" }, { data: "c" }]],
  ])("%s", (_rule, text, expected) => {
    expect(decodeText(text)).toEqual(expected);
    expect(decode(bytewise(bytesOf(text)))).toEqual(expected);
  });

  it.each<[string, string, Told[]]>([
    ["one line end is missing", "data: a\n\ndata: b\n", [{ data: "a" }, { data: "b", complete: false }]],
    ["both are missing", "data: a\n\ndata: b", [{ data: "a" }, { data: "b", complete: false }]],
    ["cut within CRLF CRLF", "data: b\r\n\r", data("b")],
    ["cut after the first CRLF", "data: b\r\n", [{ data: "b", complete: false }]],
    ["cut within a field name", "data: a\n\ndat", data("a")],
    ["an event name alone", "event: error", []],
    ["a named event", "event: error\ndata: b", [{ data: "b", event: "error", complete: false }]],
    ["nothing", "", []],
    ["a byte order mark alone", "\ufeff", []],
  ])("at the end of the stream: %s", (_name, text, expected) => {
    expect(decodeText(text)).toEqual(expected);
    expect(decode(bytewise(bytesOf(text)))).toEqual(expected);
  });

  it("puts the replacement character in place of broken bytes", () => {
    const bytes = Uint8Array.of(...bytesOf("data: a"), 0xff, 0xc3, ...bytesOf("b\n\n"));
    expect(decode([bytes])).toEqual(data("a\ufffd\ufffdb"));
    expect(decode(bytewise(bytes))).toEqual(data("a\ufffd\ufffdb"));
  });

  it("puts it in place of a character cut off by the end of the stream", () => {
    expect(decode([Uint8Array.of(...bytesOf("data: a"), 0xf0, 0x9f)])).toEqual([{ data: "a\ufffd", complete: false }]);
  });

  it("keeps a line end from joining a broken sequence", () => {
    const bytes = Uint8Array.of(...bytesOf("data: a"), 0xe2, 0x82, 0x0a, 0x0a, ...bytesOf("data: b\n\n"));
    for (const parts of twoWaySplits(bytes)) expect(decode(parts)).toEqual(data("a\ufffd", "b"));
  });

  it("may be fed a buffer that is used again", () => {
    const decoder = listDecoder(LIMIT);
    const buffer = new Uint8Array(8);
    const seen: string[] = [];
    for (const piece of ["data: ab", "cdefghij", "klm\n\ndat", "a: nop\n\n"]) {
      buffer.set(bytesOf(piece));
      seen.push(...(decoder.feed(buffer)?.events ?? []).map((event) => event.data));
    }
    expect(seen).toEqual(["abcdefghijklm", "nop"]);
  });
});

describe("splits", () => {
  const NASTY =
    "\ufeff: hello\r\n\r\nevent: x\rdata: é€😀\u2028\ndata:\r\n\r\n\r\rdata:a:b\r\rid: 3\nretry: 5\ndata:  two\n\n: c\n\ndata\n\nerror: e\n\ndata: [DONE]\r\n";
  const EXPECTED: Told[] = [
    { data: "é€😀\u2028\n", event: "x" },
    { data: "a:b" },
    { data: " two" },
    { data: "" },
    { data: "", error: "e" },
    { data: "[DONE]", complete: false },
  ];

  it("reads the nasty vector in one piece", () => expect(decodeText(NASTY)).toEqual(EXPECTED));

  it("reads it cut in two anywhere", () => {
    for (const parts of twoWaySplits(bytesOf(NASTY))) expect(decode(parts)).toEqual(EXPECTED);
  });

  it("reads it byte by byte, with empty reads between", () => {
    expect(decode(bytewise(bytesOf(NASTY)).flatMap((byte) => [new Uint8Array(0), byte]))).toEqual(EXPECTED);
  });

  const line = fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, "").toWellFormed());
  const block = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
    name: fc.option(line),
    comment: fc.option(line),
    space: fc.boolean(),
  });

  it("gives the same events for every split and line end", () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), anyLineEnd, anyCuts, fc.boolean(), (blocks, end, cuts, mark) => {
        const text = blocks
          .map(({ lines, name, comment, space }) => {
            const colon = space ? ": " : ":";
            // Without the optional space a value must not begin with one.
            const values = lines.map((value) => (space ? value : value.replace(/^ /, "x")));
            const head = [...(name === null ? [] : [`event: ${name}`]), ...(comment === null ? [] : [`:${comment}`])];
            return [...head, ...values.map((value) => `data${colon}${value}`), "", ""].join(end);
          })
          .join("");
        const expected = blocks.map(({ lines, name, space }): Told => {
          const values = lines.map((value) => (space ? value : value.replace(/^ /, "x")));
          return { data: values.join("\n"), ...(name === null || name === "" ? {} : { event: name }) };
        });
        expect(decode(cutAt(bytesOf((mark ? "\ufeff" : "") + text), cuts))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("reads any bytes the same in one piece, cut, and byte by byte", () => {
    const byte = fc.oneof(
      fc.constantFrom(0x0a, 0x0d, 0x3a, 0x20, 0xef, 0xbb, 0xbf, 0xf0, 0x9f),
      fc.integer({ min: 0, max: 255 }),
    );
    const word = fc
      .constantFrom("data", "data: ", "event:", "error", "\r\n", "\n\n", "é", "\ufeff")
      .map((text) => [...bytesOf(text)]);
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            byte.map((one) => [one]),
            word,
          ),
          { maxLength: 60 },
        ),
        anyCuts,
        (pieces, cuts) => {
          const bytes = Uint8Array.from(pieces.flat());
          const whole = decode([bytes]);
          expect(decode(cutAt(bytes, cuts))).toEqual(whole);
          expect(decode(bytewise(bytes))).toEqual(whole);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("size", () => {
  it("reads one line of 5 MB in reads of 16 KB", () => {
    const payload = `{"x":"${"é".repeat(2_600_000)}"}`;
    const bytes = bytesOf(encodeEvent(payload));
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 16_384) parts.push(bytes.slice(at, at + 16_384));
    const events = decode(parts);
    expect(events.length).toBe(1);
    expect(events[0]?.data === payload).toBe(true);
  });

  it("does linear work for many data lines of one event", () => {
    const text = `${"data: x\n".repeat(300_000)}\n`;
    const bytes = bytesOf(text);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 1000) parts.push(bytes.slice(at, at + 1000));
    const events = decode(parts);
    expect(events.map((event) => event.data.length)).toEqual([599_999]);
  });

  const feedAll = (limit: number, parts: readonly string[]): boolean => {
    const decoder = listDecoder(limit);
    return parts.every((part) => decoder.feed(bytesOf(part)) !== undefined);
  };

  it("refuses a line that outgrows the limit before its end has come", () => {
    expect(feedAll(20, ["data: ", "x".repeat(14)])).toBe(true);
    expect(feedAll(20, ["data: ", "x".repeat(15)])).toBe(false);
  });

  it("refuses an event that outgrows it by many lines, in many reads", () => {
    expect(
      feedAll(
        100,
        Array.from({ length: 200 }, () => "data: 0123456789\n"),
      ),
    ).toBe(false);
  });

  it("refuses an event that outgrows it by empty data lines", () => {
    expect(
      feedAll(
        100,
        Array.from({ length: 5000 }, () => "data\n"),
      ),
    ).toBe(false);
  });

  it("counts one event at a time", () => {
    expect(
      feedAll(
        100,
        Array.from({ length: 1000 }, () => "data: 0123456789\n\n"),
      ),
    ).toBe(true);
  });

  it("does not count comments and other fields", () => {
    expect(
      feedAll(
        100,
        Array.from({ length: 1000 }, () => ": 0123456789\nid: 0123456789\n"),
      ),
    ).toBe(true);
  });

  it("bounds an event name and an error field as well", () => {
    expect(feedAll(50, ["event: ", "x".repeat(60)])).toBe(false);
    expect(feedAll(50, ["error: ", "x".repeat(60)])).toBe(false);
  });
});

describe("where an event stands in the text", () => {
  const faithful = ({ events, text, source }: Decoded): void => {
    for (const { data: value, event, error, start, end, complete } of events) {
      if (start < 0) continue;
      expect(text.slice(start, end)).toBe(encodeEvent(value));
      expect({ event, error, complete }).toEqual({ event: "", error: undefined, complete: true });
    }
    if (source !== undefined) expect(source).toEqual(bytesOf(text));
  };

  it("places plain events and no others", () => {
    const sent = bytesOf("data: a\n\ndata:b\n\n: c\n\ndata: d\n\nevent: e\ndata: f\n\ndata: g\ndata: h\n\ndata: é\n\n");
    const decoded = listDecoder(LIMIT).feed(sent);
    expect(decoded?.events.map(({ start, end }) => [start, end])).toEqual([
      [0, 9],
      [-1, -1],
      [22, 31],
      [-1, -1],
      [-1, -1],
      [66, 75],
    ]);
    expect(decoded?.source).toEqual(sent);
  });

  it("the bytes cannot leave with a byte order mark in front", () => {
    expect(listDecoder(LIMIT).feed(bytesOf("\ufeffdata: a\n\n"))?.source).toBe(undefined);
  });

  it("the bytes are those of the whole lines, also of earlier reads", () => {
    const decoder = listDecoder(LIMIT);
    expect(decoder.feed(bytesOf("data: "))?.source).toBe(undefined);
    expect(decoder.feed(bytesOf("a\n\ndata: b"))?.source).toEqual(bytesOf("data: a\n\n"));
    expect(decoder.feed(bytesOf("\n\n"))?.source).toEqual(bytesOf("data: b\n\n"));
  });

  it.each([
    ["one broken byte", [0xff]],
    ["two broken bytes", [0xff, 0xff]],
    ["a broken byte and a whole character", [0xff, 0xc3, 0xa9]],
    ["the beginning of a character", [0xe2, 0x82]],
    ["half a surrogate pair", [0xed, 0xa0, 0xbd]],
  ])("the bytes cannot leave with %s in them", (_name, broken) => {
    expect(listDecoder(LIMIT).feed(Uint8Array.of(...bytesOf("data: a"), ...broken, 0x0a, 0x0a))?.source).toBe(
      undefined,
    );
  });

  it("holds for any bytes in any split", () => {
    const piece = fc.oneof(
      fc
        .constantFrom(
          "data: a\n\n",
          "data: é\n\n",
          "data:a\n\n",
          ": c\n\n",
          "data: a\r\n\r\n",
          "\n",
          "\r",
          "data: ",
          "x",
          "\ufeff",
          "\ufffd",
          "event: e\n",
        )
        .map((text) => [...bytesOf(text)]),
      fc.integer({ min: 0, max: 255 }).map((one) => [one]),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), anyCuts, (pieces, cuts) => {
        const decoder = listDecoder(LIMIT);
        for (const part of cutAt(Uint8Array.from(pieces.flat()), cuts)) {
          const decoded = decoder.feed(part);
          if (decoded !== undefined) faithful(decoded);
        }
        faithful(decoder.flush());
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a visitor that knows events", () => {
  it("is asked where an event begins, and what it claims is not shown", () => {
    const decoder = createSseDecoder(LIMIT);
    const asked: number[] = [];
    const seen: string[] = [];
    const text = "data: a\n\ndata: k\n\ndata: k\n\n: c\ndata: b\ndata: c\n\ndata: k\n\n";
    decoder.visit(bytesOf(text), {
      text: () => undefined,
      event: ({ data: value }) => void seen.push(value),
      known(whole, at) {
        asked.push(at);
        let end = at;
        while (whole.startsWith("data: k\n\n", end)) end += 9;
        return end;
      },
    });
    expect(seen).toEqual(["a", "b\nc"]);
    for (const at of asked) expect(text.slice(at)).toMatch(/^(?:data: [akb]|: c)/);
  });
});
