import { describe, expect, it } from "vitest";
import { bytewise } from "../sse/cut.ts";
import {
  chunk,
  DONE,
  HEAD,
  ROLE,
  STOP,
  stream,
  streamOf,
  textChunk,
  usageChunk,
  wire,
  type Json,
  type StreamOptions,
} from "./streamed.ts";

describe("what is clean leaves byte for byte", () => {
  it.each<[string, readonly unknown[], StreamOptions["shape"]?]>([
    ["text", [chunk(ROLE), textChunk("a"), textChunk("b"), STOP]],
    ["the first delta of OpenAI", [chunk({ role: "assistant", content: "", refusal: null }), textChunk("a"), STOP]],
    ["a finish with the last text", [chunk(ROLE), textChunk("a"), chunk({ content: "b" }, "stop")]],
    [
      "a finish with an empty text (vLLM)",
      [chunk(ROLE), textChunk("a"), chunk({ content: "" }, "stop", { stop_reason: null, token_ids: null })],
    ],
    [
      "vendor members with nulls beside the delta",
      [
        { ...chunk(ROLE), prompt_token_ids: null, prompt_text: null },
        chunk({ content: "a" }, null, { token_ids: null }),
        STOP,
      ],
    ],
    [
      "content null in a delta with calls",
      [
        chunk({ role: "assistant", content: null }),
        chunk({
          content: null,
          tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
      ],
    ],
    [
      "a first call delta without arguments",
      [
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
      ],
    ],
    ["reasoning", [chunk(ROLE), chunk({ reasoning: "r" }), chunk({ reasoning_content: "s" }), textChunk("a"), STOP]],
    ["a refusal", [chunk(ROLE), chunk({ refusal: "no" }), STOP]],
    [
      "logprobs",
      [
        chunk(ROLE),
        chunk({ content: "a" }, null, {
          logprobs: { content: [{ token: "a", logprob: -0.5, bytes: [97], top_logprobs: [] }], refusal: null },
        }),
        STOP,
      ],
    ],
    [
      "usage: null",
      [
        { ...chunk(ROLE), usage: null },
        { ...textChunk("a"), usage: null },
        { ...STOP, usage: null },
      ],
    ],
    [
      "no logprobs member at all (llama.cpp)",
      [
        { ...HEAD, choices: [{ index: 0, delta: ROLE, finish_reason: null }] },
        { ...HEAD, choices: [{ finish_reason: null, index: 0, delta: { content: "a" } }] },
        { ...HEAD, choices: [{ finish_reason: "stop", index: 0, delta: {} }] },
      ],
    ],
    [
      "the usage chunk that was asked for",
      [chunk(ROLE), textChunk("a"), STOP, usageChunk({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })],
      { includeUsage: true },
    ],
    [
      "a call although a function was named: stop",
      [
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }] }),
        STOP,
      ],
      { namedTool: true },
    ],
    ["content_filter", [chunk(ROLE), textChunk("a"), chunk({}, "content_filter")]],
    ["length with nothing said", [chunk(ROLE), chunk({}, "length")]],
    [
      "function_call",
      [
        chunk({ role: "assistant", content: null, function_call: { name: "f", arguments: "" } }),
        chunk({ function_call: { arguments: "{}" } }),
        chunk({}, "function_call"),
      ],
    ],
    ["emoji, escapes, U+2028", [chunk(ROLE), textChunk('😀\u2028"\\\n'), STOP]],
  ])("%s", (_name, events, shape = {}) => {
    const sent = wire([...events, DONE]);
    expect(stream(sent, { shape }).text).toBe(sent);
    expect(stream(sent, { shape, cut: bytewise }).text).toBe(sent);
  });

  it("keeps odd spacing, key order and number spelling", () => {
    const sent = `data: { "choices": [ {"finish_reason":null,"delta":{"role":"assistant","content":"x"},"index":0,"lp":1.50} ], "model":"m","object":"chat.completion.chunk","created":5,"id":"i" }\n\ndata: ${JSON.stringify({ ...STOP, id: "i" })}\n\ndata: [DONE]\n\n`;
    expect(stream(sent).text).toBe(sent);
  });

  it("repairs only the chunk that needs it, and there keeps the spelling of numbers", () => {
    const clean = wire([chunk(ROLE), textChunk("a")]);
    const odd = `data: {"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"content":"b","reasoning":null},"logprobs":null,"finish_reason":null}],"seed":9007199254740993,"t":1.50}\n\n`;
    const { text: out } = stream(clean + odd + wire([textChunk("c"), STOP, DONE]));
    expect(out.startsWith(clean)).toBe(true);
    expect(out.endsWith(wire([textChunk("c"), STOP, DONE]))).toBe(true);
    expect(out).toContain('"seed":9007199254740993,"t":1.50');
    expect(out).toContain('"delta":{"content":"b"}');
  });
});

describe("framing", () => {
  it("is LF, `data: `, nothing else, whatever came", () => {
    const sent = `\ufeff: hi\r\nretry: 5\r\nid: 1\r\nevent: message\r\ndata:${JSON.stringify(chunk(ROLE))}\r\n\r\n: ping\n\nid: 2\rdata: ${JSON.stringify(textChunk("a"))}\r\rdata: ${JSON.stringify(STOP)}\n\ndata: [DONE] \n\n`;
    for (const options of [{}, { cut: bytewise }])
      expect(stream(sent, options).text).toBe(wire([chunk(ROLE), textChunk("a"), STOP, DONE]));
  });

  it("writes JSON that came in several data lines as one line", () => {
    const pretty = JSON.stringify(chunk({ role: "assistant", content: "a" }), null, 1);
    const sent = `${pretty
      .split("\n")
      .map((line) => `data: ${line}\n`)
      .join("")}\n${wire([STOP, DONE])}`;
    const out = stream(sent);
    expect(out.chunks).toEqual([chunk({ role: "assistant", content: "a" }), STOP]);
    expect(out.text.split("\n").every((line) => line === "" || line.startsWith("data: "))).toBe(true);
    expect(out.done).toBe(true);
  });

  it.each<[string, readonly unknown[]]>([
    ["no [DONE]", [chunk(ROLE), textChunk("a"), STOP]],
    ["two [DONE]", [chunk(ROLE), textChunk("a"), STOP, DONE, DONE]],
    [
      "bytes after [DONE]",
      [chunk(ROLE), textChunk("a"), STOP, DONE, textChunk("late"), { error: { message: "late" } }],
    ],
    [
      "no event but JSON that says nothing between",
      [chunk(ROLE), {}, null, 5, [], "null", "", textChunk("a"), true, '"x"', STOP, DONE],
    ],
    ["a broken event after the end", [chunk(ROLE), textChunk("a"), STOP, DONE, "{"]],
  ])("ends in one [DONE]: %s", (_name, events) => {
    expect(streamOf(events).text).toBe(wire([chunk(ROLE), textChunk("a"), STOP, DONE]));
  });

  it("is not misled by data that is nearly [DONE]", () => {
    const out = streamOf([chunk(ROLE), textChunk("[DONE]"), STOP, DONE]);
    expect(out.text).toBe(wire([chunk(ROLE), textChunk("[DONE]"), STOP, DONE]));
  });
});

describe("one constant id, created, model, object", () => {
  it("keeps the first ones", () => {
    const out = streamOf([
      { ...chunk(ROLE), id: "one", created: 7, model: "x" },
      { ...textChunk("a"), id: "two", created: 8, model: "y", object: "other" },
      STOP,
      DONE,
    ]);
    expect(out.chunks.map(({ id, created, model, object }) => [id, created, model, object])).toEqual(
      Array(3).fill(["one", 7, "x", HEAD.object]),
    );
    expect(out.done).toBe(true);
  });

  it.each<[string, Json]>([
    ["missing", {}],
    ["empty", { id: "", created: 0, model: "", object: "" }],
    ["null", { id: null, created: null, model: null, object: null }],
    ["of another type", { id: 5, created: "x", model: {}, object: 3 }],
  ])("makes what is %s once", (_name, head) => {
    const { choices: first } = chunk(ROLE);
    const out = streamOf([
      { ...head, choices: first },
      { ...head, choices: textChunk("a")["choices"] },
      { ...head, choices: STOP["choices"] },
      DONE,
    ]);
    const expected = { id: "chatcmpl-made1", created: 1_700_000_000, model: "asked-model", object: HEAD.object };
    expect(out.chunks).toHaveLength(3);
    for (const sent of out.chunks) expect(sent).toMatchObject(expected);
  });

  it("does not change an id that was made when a real one comes later", () => {
    const out = streamOf([{ ...chunk(ROLE), id: "" }, textChunk("a"), STOP, DONE]);
    expect(new Set(out.chunks.map(({ id }) => id))).toEqual(new Set(["chatcmpl-made1"]));
  });

  it("makes created an integer", () => {
    const out = streamOf([{ ...chunk(ROLE), created: 5.75 }, { ...textChunk("a"), created: 6.1 }, STOP, DONE]);
    expect(out.chunks.map(({ created }) => created)).toEqual([5, 5, 5]);
  });

  it("gives a usage chunk the same head", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const out = streamOf([chunk(ROLE), textChunk("a"), STOP, { choices: [], usage }, DONE], {
      shape: { includeUsage: true },
    });
    expect(out.chunks.at(-1)).toEqual({ ...HEAD, choices: [], usage });
  });
});
