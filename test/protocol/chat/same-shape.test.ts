import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCuts, bytesOf, cutAt } from "../sse/cut.ts";
import { choiceChunk, chunk, HEAD, ROLE, STOP, stream, textChunk, wire, type Json, type Streamed } from "./streamed.ts";

/** What a client has read in the end, by choice. */
const readBy = ({ chunks }: Streamed): Record<number, string> => {
  const said: Record<number, string> = {};
  for (const { choices } of chunks) {
    for (const { index, delta } of choices as { index: number; delta: { content?: string | null } }[])
      said[index] = (said[index] ?? "") + (delta.content ?? "");
  }
  return said;
};

// Like the event before it but for one thing, which must be seen.
const NEARLY: readonly string[] = [
  JSON.stringify(textChunk("plain")),
  JSON.stringify(textChunk("")),
  JSON.stringify(textChunk('q"uote')),
  JSON.stringify(textChunk("back\\slash")),
  JSON.stringify(textChunk("line\nend\t\b\f\r")),
  JSON.stringify(textChunk("ends with \\")),
  JSON.stringify(textChunk('ends with "')),
  JSON.stringify(textChunk('\\"\\\\"')),
  JSON.stringify(textChunk("@")).replace("@", "a\\/b"),
  JSON.stringify(textChunk("@\\")).replace("@", "\\ud83d"),
  JSON.stringify(textChunk('x"},"logprobs":null,"finish_reason":null}]}')),
  JSON.stringify(textChunk("é😀\u2028")),
  JSON.stringify(textChunk("@")).replace("@", "\\ud83d"),
  JSON.stringify(textChunk("@")).replace("@", "\\ude00"),
  JSON.stringify(textChunk("@")).replace("@", "\\u0041"),
  JSON.stringify({ ...textChunk("id"), id: "other" }),
  JSON.stringify({ ...textChunk("created"), created: 6 }),
  JSON.stringify(chunk({ content: "role", role: "assistant" })),
  JSON.stringify(chunk({ content: "null", reasoning: null })),
  JSON.stringify(chunk({ content: 5 })),
  JSON.stringify(textChunk("spaced")).replaceAll(",", ", "),
  JSON.stringify(textChunk("first")).replace('"content":"first"', '"content":"first","content":"second"'),
  JSON.stringify(choiceChunk(1, { content: "one" })),
  JSON.stringify({
    ...HEAD,
    choices: [{ index: 0, delta: { content: "u" }, logprobs: null, finish_reason: null }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  "{}",
];
const contentOf = (data: string): [number, string] | undefined => {
  const [choice] = (JSON.parse(data) as { choices?: { index: number; delta: { content: unknown } }[] }).choices ?? [];
  return choice === undefined ? undefined : [choice.index, String(choice.delta.content)];
};

/** Chunks of servers that each say one thing more than they should, or say it elsewhere. */
const DIALECTS: readonly ((text: string) => Json)[] = [
  textChunk,
  (content) => chunk({ role: "assistant", content }),
  (content) => chunk({ role: null, content, reasoning_content: null, tool_calls: null }),
  (content) => chunk({ content, tool_calls: [] }),
  (content) => chunk({ content, function_call: null, audio: null }),
  (content) => chunk({ content: "", reasoning: content }),
  (reasoning_content) => chunk({ content: null, reasoning_content }),
  (reasoning) => chunk({ reasoning }),
  (content) => chunk({ content, reasoning: content }),
  (content) => chunk({ content, refusal: "no" }),
  (content) => chunk({ content: 0, reasoning: content }),
  (content) => chunk({ content, x: content }),
  (content) => chunk({ role: null, content: "same" }, null, { x: { content } }),
  (content) => chunk({ content: "same" }, null, { x: { delta: { content } } }),
  (content) => ({ ...chunk({ content }), error: null }),
  (content) => chunk({ role: "assistant", content }, null, { content, text: content }),
  (content) => ({ ...chunk({ content }), id: "other" }),
  (content) => ({ ...chunk({ content }), model: null }),
  (content) => ({ ...chunk({ content }), usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
  (content) => ({ ...chunk({ content }), created: 1.5, extra: { deep: [1.5, "x"] } }),
  (content) => chunk({ content }, ""),
  (content) => chunk({ content }, null, { logprobs: { content: null } }),
  (content) => chunk(undefined, null, { message: { role: "assistant", content } }),
  (content) => chunk(undefined, null, { text: content }),
];

describe("runs of like events", () => {
  it("leave with their bytes, in whatever reads they come", () => {
    const sent = wire([chunk(ROLE), ...Array.from({ length: 200 }, (_, i) => textChunk(`t${i}`)), STOP, "[DONE]"]);
    fc.assert(
      fc.property(anyCuts, (cuts) => {
        expect(stream(sent, { cut: (bytes) => cutAt(bytes, cuts) }).text).toBe(sent);
      }),
      { numRuns: 100 },
    );
  });

  it("lose nothing and let nothing by that is only nearly alike", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...NEARLY), { maxLength: 14 }), anyCuts, (events, cuts) => {
        const sent = wire([
          choiceChunk(0, ROLE),
          choiceChunk(1, ROLE),
          ...events,
          STOP,
          choiceChunk(1, {}, "stop"),
          "[DONE]",
        ]);
        const shape = { n: 2 };
        const whole = stream(sent, { shape });
        const each = stream(sent, {
          shape,
          cut: (bytes) =>
            cutAt(
              bytes,
              [...bytes.keys()].filter((at) => bytes[at - 1] === 10 && bytes[at - 2] === 10),
            ),
        });
        const any = stream(sent, { shape, cut: (bytes) => cutAt(bytes, cuts) });
        expect(each.text).toBe(whole.text);
        expect(any.text).toBe(whole.text);
        const expected: Record<number, string> = { 0: "", 1: "" };
        for (const event of events) {
          const said = contentOf(event);
          if (said !== undefined) expected[said[0]] += said[1];
        }
        expect(readBy(whole)).toEqual(expected);
        expect(
          whole.chunks.every(
            (sentChunk) => sentChunk["id"] === HEAD.id && sentChunk["created"] === 5 && !("usage" in sentChunk),
          ),
        ).toBe(true);
        expect(whole.done).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("of repaired ones read as if each had been parsed, whatever the dialect", { timeout: 60_000 }, () => {
    const texts = ["a", "b c", "é😀", "", "<", "<|eot", "\\", '"', 'q"\n\\', "0", "\ue000text\ue001"];
    const anyEvents = fc.array(fc.tuple(fc.constantFrom(...DIALECTS), fc.constantFrom(...texts)), { maxLength: 12 });
    // Like neighbours are what a run is made of.
    const anyRuns = fc.tuple(
      anyEvents,
      fc.array(fc.constantFrom(...texts), { maxLength: 6 }),
      fc.constantFrom(...DIALECTS),
    );
    const anyReasoning = fc.constantFrom("both", "as_sent", "reasoning", "reasoning_content", "none");
    fc.assert(
      fc.property(anyRuns, anyReasoning, fc.boolean(), anyCuts, ([events, run, dialect], reasoning, spaced, cuts) => {
        const said = [...events.map(([tell, text]) => tell(text)), ...run.map(dialect)];
        const written = spaced ? said.map((event) => JSON.stringify(event).replaceAll('":', '": ')) : said;
        const sent = wire([chunk(ROLE), ...written, STOP, "[DONE]"]);
        const shape = { reasoning } as const;
        const known = stream(sent, { shape, cut: (bytes) => cutAt(bytes, cuts) });
        expect(known.text).toBe(stream(sent, { shape, parsed: true }).text);
        expect(known.done).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("of choices beyond those that were asked for wait until each has begun", () => {
    const events = [
      chunk(ROLE),
      choiceChunk(5, ROLE),
      choiceChunk(5, { content: "a" }),
      choiceChunk(5, { content: "b" }),
      choiceChunk(3, { content: null }),
      choiceChunk(5, { content: "c" }),
      ...[0, 3, 5].map((index) => choiceChunk(index, {}, "stop")),
      "[DONE]",
    ];
    expect(stream(wire(events)).text).toBe(stream(wire(events), { parsed: true }).text);
  });

  it("are not known any more once their choice has finished", () => {
    const out = stream(
      wire([chunk(ROLE), textChunk("a"), textChunk("b"), STOP, textChunk("c"), textChunk("d"), "[DONE]"]),
    );
    expect(out.chunks.map(({ choices }) => (choices as Json[])[0]?.["finish_reason"])).toEqual([
      null,
      null,
      null,
      null,
      null,
      "stop",
    ]);
    expect(readBy(out)).toEqual({ 0: "abcd" });
  });

  it("do not let broken bytes by", () => {
    const good = bytesOf(wire([chunk(ROLE), textChunk("a"), textChunk("b")]));
    const bad = bytesOf(wire([textChunk("@")])).map((byte) => (byte === 0x40 ? 0xff : byte));
    const rest = bytesOf(wire([STOP, "[DONE]"]));
    const out = stream("", { cut: () => [good, bad, rest] });
    expect(readBy(out)).toEqual({ 0: "ab\ufffd" });
  });

  it("do not let an event by that is cut in two by a blank line", () => {
    const [before, after] = JSON.stringify(textChunk("@")).split("@") as [string, string];
    const out = stream(
      `${wire([chunk(ROLE), textChunk("a"), textChunk("b")])}data: ${before}c\n\nfoo${after}\n\n${wire([textChunk("d"), STOP, "[DONE]"])}`,
    );
    expect(out.failed).toBe("upstream_invalid");
    expect(readBy(out)).toEqual({ 0: "ab" });
  });

  it("do not let a text by that has a line end in it", () => {
    const [before, after] = JSON.stringify(textChunk("@")).split("@") as [string, string];
    for (const inside of ["c\nd", "c\ndata: d", "\n"]) {
      const out = stream(
        `${wire([chunk(ROLE), textChunk("a"), textChunk("b")])}data: ${before}${inside}${after}\n\n${wire([textChunk("d"), STOP, "[DONE]"])}`,
      );
      expect([out.failed, readBy(out)]).toEqual(["upstream_invalid", { 0: "ab" }]);
    }
  });

  it("do not let a control character by, which JSON forbids", () => {
    const out = stream(
      wire([
        chunk(ROLE),
        textChunk("a"),
        textChunk("b"),
        JSON.stringify(textChunk("@")).replace("@", "\u0001"),
        STOP,
        "[DONE]",
      ]),
    );
    expect([out.done, out.failed]).toEqual([false, "upstream_invalid"]);
  });
});
