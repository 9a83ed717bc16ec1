import { describe, expect, it } from "vitest";
import { gather, gatherOf } from "./gathered.ts";
import { choiceChunk, chunk, HEAD, ROLE, usageChunk, wire, type Json } from "./streamed.ts";
import { bytewise } from "../sse/cut.ts";

const text = (content: string): Json => chunk({ content });
const STOP = chunk({}, "stop");
const first = (answer: unknown): Json => ((answer as Json)["choices"] as Json[])[0] as Json;
const message = (...events: unknown[]): unknown => first(gatherOf([...events, "[DONE]"]))["message"];
const PLAIN = { role: "assistant", content: "ab", refusal: null };

describe("aggregate", () => {
  it("makes one answer of a stream", () => {
    expect(
      gatherOf([
        chunk(ROLE),
        text("a"),
        text("b"),
        STOP,
        usageChunk({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }),
        "[DONE]",
      ]),
    ).toEqual({
      id: HEAD.id,
      object: "chat.completion",
      created: 5,
      model: "m",
      choices: [{ index: 0, message: PLAIN, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
  });

  it("gives the same for any split", () => {
    const sent = wire([chunk(ROLE), text("é😀"), chunk({ reasoning: "r" }), STOP, "[DONE]"]);
    expect(gather(sent, {}, bytewise)).toEqual(gather(sent));
  });

  it.each<[string, unknown, unknown]>([
    [
      "reasoning in both spellings",
      message(
        chunk(ROLE),
        chunk({ reasoning: "x", reasoning_content: "x" }),
        chunk({ reasoning: "y", reasoning_content: "y" }),
        text("ab"),
        STOP,
      ),
      { ...PLAIN, reasoning: "xy", reasoning_content: "xy" },
    ],
    [
      "a refusal: no content",
      message(chunk(ROLE), chunk({ refusal: "n" }), chunk({ refusal: "o" }), STOP),
      { role: "assistant", content: null, refusal: "no" },
    ],
    [
      "reasoning alone",
      message(chunk(ROLE), chunk({ reasoning: "x" }), chunk({}, "length")),
      expect.objectContaining({ reasoning: "x" }),
    ],
    [
      "content as blocks",
      message(chunk({ role: "assistant", content: [{ type: "text", text: "a" }, "b"] }), STOP),
      PLAIN,
    ],
    [
      "calls: content null",
      message(
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "[" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "1]" } }] }),
        chunk({}, "tool_calls"),
      ),
      {
        role: "assistant",
        content: null,
        refusal: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "[1]" } }],
      },
    ],
    [
      "calls beside text",
      message(
        chunk(ROLE),
        text("ab"),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
      ),
      { ...PLAIN, tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
    ],
    [
      "a custom tool",
      message(
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sh", input: "l" } }] }),
        chunk({ tool_calls: [{ index: 0, custom: { input: "s" } }] }),
        chunk({}, "tool_calls"),
      ),
      {
        role: "assistant",
        content: null,
        refusal: null,
        tool_calls: [{ id: "c", type: "custom", custom: { name: "sh", input: "ls" } }],
      },
    ],
    [
      "a legacy call",
      message(
        chunk({ role: "assistant", content: null, function_call: { name: "f", arguments: "" } }),
        chunk({ function_call: { arguments: "[1" } }),
        chunk({ function_call: { arguments: "]" } }),
        chunk({}, "function_call"),
      ),
      { role: "assistant", content: null, refusal: null, function_call: { name: "f", arguments: "[1]" } },
    ],
    [
      "audio: texts are joined, the rest is the last value",
      message(
        chunk({ role: "assistant", audio: { id: "a", transcript: "x" } }),
        chunk({ audio: { data: "QQ", transcript: "y" } }),
        chunk({ audio: { data: "RR", expires_at: 9 } }),
        STOP,
      ),
      expect.objectContaining({ audio: { id: "a", transcript: "xy", data: "QQRR", expires_at: 9 } }),
    ],
    [
      "annotations: the lists are joined",
      message(chunk(ROLE), text("ab"), chunk({ annotations: [{ a: 1 }] }), chunk({ annotations: [{ b: 2 }] }), STOP),
      { ...PLAIN, annotations: [{ a: 1 }, { b: 2 }] },
    ],
    [
      "a vendor's member: the last value",
      message(chunk(ROLE), chunk({ content: "ab", mood: "x" }), chunk({ mood: "y" }), STOP),
      { ...PLAIN, mood: "y" },
    ],
    [
      "no content at all",
      message(chunk({ role: "assistant" }), STOP),
      { role: "assistant", content: "", refusal: null },
    ],
    [
      "halves of characters",
      message(
        JSON.stringify(chunk({ role: "assistant", content: "@" })).replace("@", "\\ud83d"),
        JSON.stringify(text("@")).replace("@", "\\ude00"),
        STOP,
      ),
      { ...PLAIN, content: "😀" },
    ],
  ])("%s", (_name, got, expected) => expect(got).toEqual(expected));

  it("joins the logprobs of every chunk, each kind by itself", () => {
    const token = (name: string): Json => ({ token: name, logprob: -1, bytes: null, top_logprobs: [] });
    const answer = gatherOf([
      chunk(ROLE),
      chunk({ content: "a" }, null, { logprobs: { content: [token("a")], refusal: null } }),
      chunk({ content: "b" }, null, { logprobs: { content: [token("b")], refusal: null } }),
      chunk({ refusal: "c" }, null, { logprobs: { content: null, refusal: [token("c")] } }),
      chunk({ refusal: "d" }, null, { logprobs: { content: [], refusal: [token("d")] } }),
      STOP,
      "[DONE]",
    ]);
    expect(first(answer)["logprobs"]).toEqual({ content: [token("a"), token("b")], refusal: [token("c"), token("d")] });
  });

  it("merges choices by index, in order of index", () => {
    const answer = gatherOf(
      [
        choiceChunk(1, ROLE),
        choiceChunk(0, ROLE),
        choiceChunk(1, { content: "b" }),
        choiceChunk(0, { content: "a" }),
        choiceChunk(1, { content: "B" }),
        choiceChunk(0, {}, "length"),
        choiceChunk(1, {}, "stop"),
        "[DONE]",
      ],
      { n: 2 },
    );
    expect(
      ((answer as Json)["choices"] as Json[]).map(({ index, message: said, finish_reason }) => [
        index,
        (said as Json)["content"],
        finish_reason,
      ]),
    ).toEqual([
      [0, "a", "length"],
      [1, "bB", "stop"],
    ]);
  });

  it("keeps fingerprint, tier and a vendor's members, the last value that is none of null", () => {
    const answer = gatherOf([
      { ...chunk(ROLE), system_fingerprint: "one", service_tier: null, vendor: 1 },
      { ...text("a"), system_fingerprint: "two", service_tier: "default" },
      { ...STOP, system_fingerprint: null, vendor: 2 },
      "[DONE]",
    ]);
    expect(answer).toMatchObject({ system_fingerprint: "two", service_tier: "default", vendor: 2 });
    expect(first(gatherOf([chunk(ROLE), text("a"), chunk({}, "stop", { stop_reason: 5 }), "[DONE]"]))).toMatchObject({
      stop_reason: 5,
      finish_reason: "stop",
    });
  });

  it("joins a vendor's lists and no others", () => {
    const on = (ids: number[], content: string): Json => ({
      ...HEAD,
      choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null, token_ids: ids }],
    });
    expect(
      first(gatherOf([chunk(ROLE), on([1], "a"), on([2, 3], "b"), chunk({}, "stop", { token_ids: null }), "[DONE]"]))[
        "token_ids"
      ],
    ).toEqual([1, 2, 3]);
  });

  it("takes the first id, created and model that say something", () => {
    const answer = gatherOf([
      { ...chunk(ROLE), id: "", created: 0, model: null },
      { ...text("a"), id: "two", created: 7, model: "x" },
      { ...STOP, id: "three", created: 8, model: "y" },
      "[DONE]",
    ]);
    expect(answer).toMatchObject({ id: "two", created: 7, model: "x" });
  });

  it("has usage whether or not a stream would have been asked for it", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    for (const includeUsage of [true, false])
      expect(gatherOf([chunk(ROLE), text("a"), STOP, usageChunk(usage), "[DONE]"], { includeUsage })).toMatchObject({
        usage,
      });
  });

  it("has no usage member when there was none", () =>
    expect(gatherOf([chunk(ROLE), text("a"), STOP, "[DONE]"])).not.toHaveProperty("usage"));

  it.each<[string, readonly unknown[], string]>([
    ["a cut stream", [chunk(ROLE), text("a")], "upstream_cut"],
    ["an error in the middle", [chunk(ROLE), text("a"), { error: { message: "x", code: 500 } }], "upstream_failed"],
    ["an empty stream", ["[DONE]"], "upstream_invalid"],
    ["finish abort", [chunk(ROLE), text("a"), chunk({}, "abort")], "upstream_failed"],
  ])("never gives half an answer: %s", (_name, events, code) => expect(gatherOf(events)).toBe(code));

  it("refuses an answer without end", () => {
    const big = text("x".repeat(100_000));
    const sent = wire([chunk(ROLE), ...Array.from({ length: 60 }, () => big), STOP, "[DONE]"]);
    const reads = (bytes: Uint8Array): Uint8Array[] =>
      Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, i) => bytes.slice(i * 65_536, (i + 1) * 65_536));
    expect(gather(sent, {}, reads)).toBe("upstream_too_large");
  });

  it("does linear work for many small chunks", { timeout: 60_000 }, () => {
    const answer = gatherOf([
      chunk(ROLE),
      ...Array.from({ length: 20_000 }, (_, i) => text(`${i % 10}`)),
      STOP,
      "[DONE]",
    ]);
    expect(((first(answer)["message"] as Json)["content"] as string).length).toBe(20_000);
    const logprobs = { content: [{ token: "x", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null };
    const told = gatherOf([
      chunk(ROLE),
      ...Array.from({ length: 10_000 }, () => chunk({ content: "x" }, null, { logprobs })),
      STOP,
      "[DONE]",
    ]);
    expect(((first(told)["logprobs"] as Json)["content"] as unknown[]).length).toBe(10_000);
  });

  it("takes __proto__ for a key", () => {
    const odd = `{"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","__proto__":{"x":1},"choices":[{"index":0,"delta":{"role":"assistant","content":"a","__proto__":{"y":1}},"logprobs":null,"finish_reason":null,"__proto__":{"z":1}}]}`;
    const answer = gatherOf([odd, STOP, "[DONE]"]);
    expect(answer).toMatchObject({ id: "chatcmpl-u" });
    expect(({} as Json)["x"]).toBe(undefined);
  });
});
