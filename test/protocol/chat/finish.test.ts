import { describe, expect, it } from "vitest";
import { finishOf, meaningOf } from "../../../src/protocol/chat/finish.ts";
import { chunk, ROLE, streamOf, told } from "./streamed.ts";

describe("meaningOf", () => {
  it.each<[unknown, string | undefined]>([
    ["stop", "stop"],
    ["length", "length"],
    ["tool_calls", "tool_calls"],
    ["content_filter", "content_filter"],
    ["function_call", "function_call"],
    ["eos", "stop"],
    ["eos_token", "stop"],
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["complete", "stop"],
    ["STOP", "stop"],
    ["done", "stop"],
    ["whatever", "stop"],
    [7, "stop"],
    [{}, "stop"],
    ["max_tokens", "length"],
    ["repetition", "length"],
    ["MAX_TOKENS", "length"],
    ["Length", "length"],
    ["tool_use", "tool_calls"],
    ["eom", "tool_calls"],
    ["TOOL_CALLS", "tool_calls"],
    ["abort", "failed"],
    ["error", "failed"],
    ["load", "failed"],
    ["ABORT", "failed"],
    [null, undefined],
    [undefined, undefined],
    ["", undefined],
  ])("%j means %s", (raw, meaning) => expect(meaningOf(raw)).toBe(meaning));
});

describe("finishOf", () => {
  const nothing = { calls: false, functionCall: false, text: false, namedTool: false };
  it.each([
    ["stop", { text: true }, "stop"],
    ["stop", {}, "stop"],
    ["stop", { calls: true }, "tool_calls"],
    ["stop", { calls: true, text: true }, "tool_calls"],
    ["stop", { calls: true, namedTool: true }, "stop"],
    ["stop", { functionCall: true }, "function_call"],
    ["tool_calls", { calls: true }, "tool_calls"],
    ["tool_calls", { text: true }, "stop"],
    ["tool_calls", {}, undefined],
    ["tool_calls", { functionCall: true }, "function_call"],
    ["length", {}, "length"],
    ["length", { calls: true }, "length"],
    ["length", { text: true }, "length"],
    ["content_filter", { calls: true }, "content_filter"],
    ["content_filter", {}, "content_filter"],
  ] as const)("%s with %j is %s", (meaning, brought, expected) => {
    expect(finishOf(meaning, { ...nothing, ...brought })).toBe(expected);
  });
});

describe("on the wire", () => {
  const call = chunk({
    tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  });
  it.each<[string, unknown[], unknown, string]>([
    ["eos", [chunk({ content: "a" })], "eos", "stop"],
    ["max_tokens", [chunk({ content: "a" })], "max_tokens", "length"],
    ["tool_use", [call], "tool_use", "tool_calls"],
    ["stop with calls", [call], "stop", "tool_calls"],
    ["tool_calls with text only", [chunk({ content: "a" })], "tool_calls", "stop"],
    ["tool_calls with a refusal only", [chunk({ refusal: "no" })], "tool_calls", "stop"],
    ["length with calls", [call], "length", "length"],
    ["eom without calls", [chunk({ content: "a" })], "eom", "stop"],
  ])("%s", (_name, events, finish, expected) => {
    const out = streamOf([chunk(ROLE), ...events, chunk({}, finish), "[DONE]"]);
    expect([told(out).at(-1), out.done]).toEqual([expected, true]);
  });

  it("tool_calls although one function was named: stop, as OpenAI says", () => {
    const out = streamOf([chunk(ROLE), call, chunk({}, "tool_calls"), "[DONE]"], { shape: { namedTool: true } });
    expect(out.done).toBe(true);
    expect(["stop", "tool_calls"]).toContain(told(out).at(-1));
  });
});
