import { describe, expect, it } from "vitest";
import {
  choiceChunk,
  choicesOf,
  chunk,
  DONE,
  HEAD,
  ROLE,
  STOP,
  stream,
  streamOf,
  textChunk,
  told,
  usageChunk,
  wire,
  type Json,
  type StreamOptions,
} from "./streamed.ts";

describe("finish", () => {
  it("a finish in every chunk: once, at the end", () => {
    expect(
      told(
        streamOf([
          chunk({ role: "assistant", content: "a" }, "stop"),
          chunk({ content: "b" }, "stop"),
          chunk({}, "stop"),
          DONE,
        ]),
      ),
    ).toEqual([{ role: "assistant", content: "a" }, { content: "b" }, "stop"]);
  });
  it("text after a finish goes before it", () => {
    expect(told(streamOf([chunk(ROLE), textChunk("a"), STOP, textChunk("b"), DONE]))).toEqual([
      ROLE,
      { content: "a" },
      { content: "b" },
      "stop",
    ]);
  });
  it("text after a finish that brought text: in the order received", () => {
    expect(told(streamOf([chunk(ROLE), chunk({ content: "a" }, "stop"), textChunk("b"), DONE]))).toEqual([
      ROLE,
      { content: "a" },
      { content: "b" },
      "stop",
    ]);
  });
  it("never goes back to null", () => {
    expect(told(streamOf([chunk(ROLE), textChunk("a"), chunk({}, "length"), chunk({}, null), DONE]))).toEqual([
      ROLE,
      { content: "a" },
      "length",
    ]);
  });
  it("length stays length, whatever comes later", () => {
    expect(told(streamOf([chunk(ROLE), textChunk("a"), chunk({}, "length"), STOP, DONE]))).toEqual([
      ROLE,
      { content: "a" },
      "length",
    ]);
  });
  it("a call that comes after the finish makes it tool_calls", () => {
    const call = chunk({
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    });
    expect(told(streamOf([chunk(ROLE), STOP, call, DONE])).at(-1)).toBe("tool_calls");
  });
  it("vendor members of the finish choice stay on it", () => {
    const out = streamOf([
      chunk(ROLE),
      textChunk("a"),
      chunk({ content: "b" }, "eos", { stop_reason: 128009, matched_stop: "x" }),
      DONE,
    ]);
    expect(out.chunks.at(-1)).toHaveProperty("choices.0");
    expect((out.chunks.at(-1) as { choices: Json[] }).choices[0]).toMatchObject({
      delta: {},
      finish_reason: "stop",
      stop_reason: 128009,
      matched_stop: "x",
    });
  });
  it("two full answers in one stream: the first one, once", () => {
    const out = streamOf([
      chunk(ROLE),
      textChunk("a"),
      STOP,
      { ...chunk(ROLE), id: "x2" },
      { ...textChunk("a"), id: "x2" },
      { ...STOP, id: "x2" },
      DONE,
    ]);
    expect(out.chunks.filter(({ choices }) => (choices as Json[])[0]?.["finish_reason"] !== null)).toHaveLength(1);
    expect(out.done).toBe(true);
  });
});

describe("several choices", () => {
  const two = { shape: { n: 2 } };
  it("leave as they come, each with its role and its finish", () => {
    const sent = [
      choiceChunk(0, ROLE),
      choiceChunk(1, ROLE),
      choiceChunk(1, { content: "b" }),
      choiceChunk(0, { content: "a" }),
    ];
    expect(choicesOf(streamOf([...sent, choiceChunk(1, {}, "stop"), choiceChunk(0, {}, "length"), DONE], two))).toEqual(
      [
        [0, ROLE, null],
        [1, ROLE, null],
        [1, { content: "b" }, null],
        [0, { content: "a" }, null],
        [0, {}, "length"],
        [1, {}, "stop"],
      ],
    );
  });
  it("begin in order even if the upstream began with another one", () => {
    const out = streamOf(
      [
        choiceChunk(1, ROLE),
        choiceChunk(1, { content: "b" }),
        choiceChunk(0, ROLE),
        choiceChunk(0, { content: "a" }),
        choiceChunk(0, {}, "stop"),
        choiceChunk(1, {}, "stop"),
        DONE,
      ],
      two,
    );
    const order = choicesOf(out).map(([index]) => index);
    expect(order.indexOf(0)).toBeLessThan(order.indexOf(1));
    for (const index of [0, 1]) {
      const own = choicesOf(out).filter(([at]) => at === index);
      expect(own.filter(([, delta]) => delta["role"] !== undefined)).toHaveLength(1);
      expect(own[0]?.[1]["role"]).toBe("assistant");
      expect(own.map(([, delta]) => delta["content"] ?? "").join("")).toBe(index === 0 ? "a" : "b");
      expect(own.filter(([, , finish]) => finish !== null)).toHaveLength(1);
    }
  });
  it("in one chunk that is clean leave together", () => {
    const both = {
      ...HEAD,
      choices: [0, 1].map((index) => ({ index, delta: { content: "x" }, logprobs: null, finish_reason: null })),
    };
    const sent = wire([
      choiceChunk(0, ROLE),
      choiceChunk(1, ROLE),
      both,
      choiceChunk(0, {}, "stop"),
      choiceChunk(1, {}, "stop"),
      DONE,
    ]);
    expect(stream(sent, two).text).toBe(sent);
  });
  it("in one chunk that is not clean lose nothing", () => {
    const both = {
      ...HEAD,
      choices: [0, 1].map((index) => ({
        index,
        delta: { role: "assistant", content: String(index), x: null },
        finish_reason: "stop",
      })),
    };
    expect(choicesOf(streamOf([both, DONE], two))).toEqual([
      [0, { role: "assistant", content: "0" }, null],
      [1, { role: "assistant", content: "1" }, null],
      [0, {}, "stop"],
      [1, {}, "stop"],
    ]);
  });
  it.each([
    ["one choice at index 1 for n = 1", 1],
    ["at index 7", 7],
  ])("%s: it is choice 0", (_name, index) => {
    expect(
      choicesOf(
        streamOf([
          choiceChunk(index, ROLE),
          choiceChunk(index, { content: "a" }),
          choiceChunk(index, {}, "stop"),
          DONE,
        ]),
      ),
    ).toEqual([
      [0, ROLE, null],
      [0, { content: "a" }, null],
      [0, {}, "stop"],
    ]);
  });
  it("one of them never finishes: the answer is cut", () => {
    const out = streamOf(
      [choiceChunk(0, ROLE), choiceChunk(1, ROLE), choiceChunk(0, { content: "a" }), choiceChunk(0, {}, "stop"), DONE],
      two,
    );
    expect([out.done, out.failed]).toEqual([false, "upstream_cut"]);
  });
  it("one of them never came at all: the answer is cut when the body broke off, but not after [DONE]", () => {
    const out = streamOf([choiceChunk(0, ROLE), choiceChunk(0, { content: "a" }), choiceChunk(0, {}, "stop")], {
      ...two,
      broken: true,
    });
    expect([out.done, out.failed]).toEqual([false, "upstream_cut"]);
  });
  it("indexes without end are refused, not remembered", () => {
    const out = streamOf(
      Array.from({ length: 300 }, (_, index) => choiceChunk(index, { role: "assistant", content: "x" })),
    );
    expect([out.done, out.failed]).toEqual([false, "upstream_invalid"]);
  });
});

describe("usage", () => {
  const counts = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const asked = { shape: { includeUsage: true } };
  const usagesOf = (events: readonly unknown[], options: StreamOptions = {}): unknown[] =>
    streamOf(events, options).chunks.map(({ usage, choices }) => [(choices as unknown[]).length, usage ?? null]);

  it("does not leave when nobody asked", () => {
    expect(usagesOf([{ ...chunk(ROLE), usage: counts }, textChunk("a"), STOP, usageChunk(counts), DONE])).toEqual([
      [1, null],
      [1, null],
      [1, null],
    ]);
  });
  it("that rides on every chunk leaves once, at the end", () => {
    expect(
      usagesOf(
        [
          { ...chunk(ROLE), usage: { ...counts, completion_tokens: 0, total_tokens: 1 } },
          { ...textChunk("a"), usage: counts },
          { ...STOP, usage: counts },
          DONE,
        ],
        asked,
      ),
    ).toEqual([
      [1, null],
      [1, null],
      [1, null],
      [0, counts],
    ]);
  });
  it("that rides on the finish chunk becomes a chunk of its own", () => {
    const out = streamOf([chunk(ROLE), textChunk("a"), { ...STOP, usage: counts, timings: { x: 1 } }, DONE], asked);
    expect(out.chunks.at(-1)).toMatchObject({ choices: [], usage: counts });
    expect(out.chunks.at(-2)).toMatchObject({ timings: { x: 1 } });
    expect(out.chunks.at(-2)).not.toHaveProperty("usage");
  });
  it("that comes before the finish still leaves last", () => {
    expect(usagesOf([chunk(ROLE), textChunk("a"), usageChunk(counts), STOP, DONE], asked)).toEqual([
      [1, null],
      [1, null],
      [1, null],
      [0, counts],
    ]);
  });
  it("asked for and never sent: no usage chunk is invented", () => {
    expect(usagesOf([chunk(ROLE), textChunk("a"), STOP, DONE], asked)).toEqual([
      [1, null],
      [1, null],
      [1, null],
    ]);
  });
  it("keeps the vendor members of the usage chunk", () => {
    const sent = {
      ...usageChunk({ ...counts, prompt_tokens_details: { cached_tokens: 1 } }),
      system_fingerprint: "fp",
    };
    expect(streamOf([chunk(ROLE), textChunk("a"), STOP, sent, DONE], asked).chunks.at(-1)).toEqual(sent);
  });
  it("a chunk without choices and usage (Azure's first) does not leave", () => {
    expect(
      told(
        streamOf([
          { ...HEAD, id: "", choices: [], prompt_filter_results: [] },
          chunk(ROLE),
          textChunk("a"),
          STOP,
          DONE,
        ]),
      ),
    ).toEqual([ROLE, { content: "a" }, "stop"]);
  });
});
