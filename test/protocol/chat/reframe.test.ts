import { describe, expect, it } from "vitest";
import { reframe } from "../../../src/protocol/chat/reframe.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { encodeEvent } from "../../../src/protocol/sse/encode.ts";
import { stream, type Json } from "./streamed.ts";

const CHOICE = {
  index: 0,
  message: { role: "assistant", content: "ab", refusal: null },
  logprobs: null,
  finish_reason: "stop",
};
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const HEAD = { id: "chatcmpl-u", object: "chat.completion", created: 5, model: "m" };
const CHUNK = { ...HEAD, object: "chat.completion.chunk" };
const framed = (choices: readonly unknown[], more: object = {}, includeUsage = false, pieceLength?: number): Json[] =>
  reframe({ ...HEAD, choices, ...more } as JsonObject, {
    includeUsage,
    ...(pieceLength === undefined ? {} : { pieceLength }),
  });
const choicesOf = (chunks: readonly Json[]): Json[] => chunks.flatMap(({ choices }) => choices as Json[]);
const deltas = (message: object, more: object = {}, pieceLength?: number): unknown[] =>
  choicesOf(framed([{ ...CHOICE, message: { ...CHOICE.message, ...message }, ...more }], {}, false, pieceLength)).map(
    ({ delta }) => delta,
  );
const ROLE = { role: "assistant", content: "", refusal: null };
const CALLS = ["f", "g"].map((name) => ({
  id: `call_${name}`,
  type: "function",
  function: { name, arguments: "[1]" },
}));
const token = (text: string): Json => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] });

describe("reframe", () => {
  it("role, content, finish", () => {
    expect(framed([CHOICE])).toEqual([
      { ...CHUNK, choices: [{ index: 0, delta: ROLE, logprobs: null, finish_reason: null }] },
      { ...CHUNK, choices: [{ index: 0, delta: { content: "ab" }, logprobs: null, finish_reason: null }] },
      { ...CHUNK, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }] },
    ]);
  });

  it.each<[string, boolean, unknown, number]>([
    ["asked for", true, USAGE, 1],
    ["not asked for", false, USAGE, 0],
    ["asked for and not there", true, undefined, 0],
    ["asked for and null", true, null, 0],
  ])("usage %s", (_name, asked, usage, count) => {
    const chunks = framed([CHOICE], usage === undefined ? {} : { usage }, asked);
    const alone = chunks.filter(({ choices }) => (choices as unknown[]).length === 0);
    expect(alone).toEqual(count === 1 ? [{ ...CHUNK, choices: [], usage: USAGE }] : []);
    expect(chunks.filter((chunk) => chunk["usage"] !== undefined && chunk["usage"] !== null)).toEqual(alone);
    if (count === 1) expect(chunks.at(-1)).toBe(alone[0]);
  });

  it.each<[string, object, unknown[]]>([
    ["reasoning before content", { reasoning: "r" }, [ROLE, { reasoning: "r" }, { content: "ab" }, {}]],
    [
      "reasoning in both spellings goes in one delta",
      { reasoning: "r", reasoning_content: "r" },
      [ROLE, { reasoning: "r", reasoning_content: "r" }, { content: "ab" }, {}],
    ],
    ["a refusal", { content: null, refusal: "no" }, [{ ...ROLE, content: null }, { refusal: "no" }, {}]],
    [
      "calls: id, type and name first, then arguments",
      { content: null, tool_calls: CALLS },
      [
        { ...ROLE, content: null },
        { tool_calls: [{ index: 0, id: "call_f", type: "function", function: { name: "f", arguments: "" } }] },
        { tool_calls: [{ index: 0, function: { arguments: "[1]" } }] },
        { tool_calls: [{ index: 1, id: "call_g", type: "function", function: { name: "g", arguments: "" } }] },
        { tool_calls: [{ index: 1, function: { arguments: "[1]" } }] },
        {},
      ],
    ],
    [
      "a custom tool",
      { content: null, tool_calls: [{ id: "c", type: "custom", custom: { name: "sh", input: "ls" } }] },
      [
        { ...ROLE, content: null },
        { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sh", input: "" } }] },
        { tool_calls: [{ index: 0, custom: { input: "ls" } }] },
        {},
      ],
    ],
    [
      "a legacy call",
      { content: null, function_call: { name: "f", arguments: "[1]" } },
      [
        { ...ROLE, content: null },
        { function_call: { name: "f", arguments: "" } },
        { function_call: { arguments: "[1]" } },
        {},
      ],
    ],
    [
      "audio and annotations go with the role",
      { content: null, audio: { id: "a", data: "QQ", transcript: "t", expires_at: 9 }, annotations: [{ a: 1 }] },
      [
        {
          ...ROLE,
          content: null,
          audio: { id: "a", data: "QQ", transcript: "t", expires_at: 9 },
          annotations: [{ a: 1 }],
        },
        {},
      ],
    ],
    [
      "nulls of a message stay away",
      {
        audio: null,
        annotations: null,
        function_call: null,
        reasoning: null,
        reasoning_content: null,
        tool_calls: null,
      },
      [ROLE, { content: "ab" }, {}],
    ],
    ["a vendor's member goes along", { mood: "x" }, [{ ...ROLE, mood: "x" }, { content: "ab" }, {}]],
    ["empty content", { content: "" }, [ROLE, {}]],
  ])("%s", (_name, message, expected) => expect(deltas(message)).toEqual(expected));

  it("cuts texts, never through a character", () => {
    const said = deltas({ content: "a😀b😀", reasoning: "😀😀" }, {}, 2) as { content?: string; reasoning?: string }[];
    const pieces = said
      .flatMap(({ content, reasoning }) => [content, reasoning])
      .filter((piece) => typeof piece === "string");
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(said.map(({ content }) => content ?? "").join("")).toBe("a😀b😀");
    expect(said.map(({ reasoning }) => reasoning ?? "").join("")).toBe("😀😀");
    for (const length of [1, 2, 3])
      expect(
        (deltas({ content: "😀é😀" }, {}, length) as { content?: string }[]).every(({ content = "" }) =>
          (content ?? "").isWellFormed(),
        ),
      ).toBe(true);
  });

  it("keeps a lone half of a character, which was in the answer", () => {
    expect(
      (deltas({ content: "a\ud83db" }, {}, 2) as { content?: string }[]).map(({ content }) => content ?? "").join(""),
    ).toBe("a\ud83db");
  });

  it("gives each token its logprob", () => {
    const logprobs = { content: [token("a"), token("b")], refusal: null };
    const chunks = choicesOf(framed([{ ...CHOICE, logprobs }]));
    expect(chunks.slice(1, -1)).toEqual(
      ["a", "b"].map((text) => ({
        index: 0,
        delta: { content: text },
        logprobs: { content: [token(text)], refusal: null },
        finish_reason: null,
      })),
    );
  });

  it("gives the logprobs of tokens that are not the text with the text, once and whole", () => {
    const logprobs = { content: [token("\ufffd"), token("x")], refusal: null };
    const told = choicesOf(framed([{ ...CHOICE, logprobs }]))
      .map((choice) => choice["logprobs"])
      .filter((value) => value !== null);
    expect(told).toEqual([logprobs]);
  });

  it("keeps logprobs where there is no text, and those of a refusal", () => {
    const logprobs = { content: [token("x")], refusal: [token("no")] };
    const told = choicesOf(
      framed([
        { ...CHOICE, message: { role: "assistant", content: null, refusal: "no", tool_calls: undefined }, logprobs },
      ]),
    )
      .map((choice) => choice["logprobs"])
      .filter((value) => value !== null) as { content: unknown; refusal: unknown }[];
    expect(told.flatMap(({ content }) => content ?? [])).toEqual([token("x")]);
    expect(told.flatMap(({ refusal }) => refusal ?? [])).toEqual([token("no")]);
  });

  it("says every choice, each whole", () => {
    const chunks = choicesOf(
      framed([
        CHOICE,
        { ...CHOICE, index: 1, message: { ...CHOICE.message, content: "c" }, finish_reason: "length", stop_reason: 5 },
      ]),
    );
    expect(chunks.filter(({ delta }) => (delta as Json)["role"] !== undefined).map(({ index }) => index)).toEqual([
      0, 1,
    ]);
    expect(chunks.filter(({ finish_reason }) => finish_reason !== null)).toEqual([
      { index: 0, delta: {}, logprobs: null, finish_reason: "stop" },
      { index: 1, delta: {}, logprobs: null, finish_reason: "length", stop_reason: 5 },
    ]);
  });

  it("keeps fingerprint and tier in every chunk, a vendor's members once", () => {
    const chunks = framed(
      [CHOICE],
      { system_fingerprint: "fp", service_tier: null, vendor: { x: 1 }, usage: USAGE },
      true,
    );
    for (const chunk of chunks) expect(chunk).toMatchObject({ system_fingerprint: "fp", service_tier: null });
    expect(chunks.filter((chunk) => "vendor" in chunk)).toHaveLength(1);
  });

  it("is a stream that needs no repair", () => {
    const chunks = framed(
      [
        {
          ...CHOICE,
          message: { ...CHOICE.message, content: "x", reasoning: "r", tool_calls: CALLS },
          finish_reason: "tool_calls",
        },
        { ...CHOICE, index: 1 },
      ],
      { usage: USAGE },
      true,
    );
    const text = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map(encodeEvent).join("");
    expect(
      stream(text, { shape: { n: 2, includeUsage: true } })
        .text.split("\n\n")
        .sort(),
    ).toEqual(text.split("\n\n").sort());
  });
});
