import { describe, expect, it } from "vitest";
import { combinationOf, parseChatRequest } from "../../../src/protocol/chat/request.ts";
import type { AnswerShape } from "../../../src/protocol/chat/types.ts";
import type { Json } from "./streamed.ts";

const GOOD = { model: "m", messages: [{ role: "user", content: "hi" }] };
const verdict = (value: unknown): unknown => {
  const result = parseChatRequest(typeof value === "string" ? value : JSON.stringify(value));
  return result.ok ? "ok" : [result.error.status, result.error.error.code, result.error.error.param];
};

describe("parseChatRequest", () => {
  it.each<[string, unknown]>([
    ["the least", GOOD],
    [
      "unknown fields, roles and parts",
      { ...GOOD, foo: { bar: 1 }, messages: [{ role: "critic", content: [{ type: "hologram", x: 1 }], y: 2 }] },
    ],
    ["stream and n null", { ...GOOD, stream: null, n: null }],
    ["n = 3", { ...GOOD, n: 3 }],
    ["a message without content", { ...GOOD, messages: [{ role: "assistant", tool_calls: [] }] }],
    ["an empty role, which is a string", { ...GOOD, messages: [{ role: "", content: "x" }] }],
    ["a lone surrogate", '{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}'],
    [
      "a byte order mark is not allowed by JSON, keys twice are",
      '{"model":1,"model":"m","messages":[{"role":"user"}]}',
    ],
    ["__proto__", '{"model":"m","messages":[{"role":"user"}],"__proto__":{"stream":5}}'],
    ["100 levels", `{"model":"m","messages":[{"role":"user"}],"x":${"[".repeat(100)}${"]".repeat(100)}}`],
  ])("passes: %s", (_name, value) => expect(verdict(value)).toBe("ok"));

  it.each<[string, unknown, unknown]>([
    ["nothing", "", [400, "invalid_json", null]],
    ["half a JSON", '{"model":', [400, "invalid_json", null]],
    ["NaN", '{"model":"m","temperature":NaN}', [400, "invalid_json", null]],
    ["a list", [GOOD], [400, "invalid_type", null]],
    ["null", null, [400, "invalid_type", null]],
    ["text", '"x"', [400, "invalid_type", null]],
    ["no model", { ...GOOD, model: undefined }, [400, "missing_required_parameter", "model"]],
    ["model null", { ...GOOD, model: null }, [400, "missing_required_parameter", "model"]],
    ["model a number", { ...GOOD, model: 5 }, [400, "invalid_type", "model"]],
    [
      "model of __proto__ alone",
      '{"__proto__":{"model":"m"},"messages":[{"role":"user"}]}',
      [400, "missing_required_parameter", "model"],
    ],
    ["no messages", { model: "m" }, [400, "missing_required_parameter", "messages"]],
    ["messages a text", { ...GOOD, messages: "hi" }, [400, "invalid_type", "messages"]],
    ["a message that is a text", { ...GOOD, messages: [GOOD.messages[0], "hi"] }, [400, "invalid_type", "messages[1]"]],
    ["a message that is null", { ...GOOD, messages: [null] }, [400, "invalid_type", "messages[0]"]],
    ["no role", { ...GOOD, messages: [{ content: "x" }] }, [400, "invalid_type", "messages[0].role"]],
    ["role a number", { ...GOOD, messages: [{ role: 1 }] }, [400, "invalid_type", "messages[0].role"]],
    ["stream a text", { ...GOOD, stream: "true" }, [400, "invalid_type", "stream"]],
    ["stream a number", { ...GOOD, stream: 1 }, [400, "invalid_type", "stream"]],
    ["n a text", { ...GOOD, n: "2" }, [400, "invalid_type", "n"]],
  ])("refuses: %s", (_name, value, expected) => expect(verdict(value)).toEqual(expected));

  it.each([
    ["model empty", { ...GOOD, model: "" }, "model"],
    ["model blank", { ...GOOD, model: " " }, "model"],
    ["messages empty", { ...GOOD, messages: [] }, "messages"],
    ["n = 0", { ...GOOD, n: 0 }, "n"],
    ["n = -1", { ...GOOD, n: -1 }, "n"],
    ["n = 1.5", { ...GOOD, n: 1.5 }, "n"],
  ])("refuses: %s", (_name, value, param) =>
    expect(verdict(value)).toEqual([400, expect.stringMatching(/^invalid_/), param]),
  );

  it("refuses a body that is nested without end, of whatever kind", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      expect(
        verdict(`{"model":"m","messages":[{"role":"user"}],"x":${open.repeat(20_000)}1${close.repeat(20_000)}}`),
      ).toEqual([400, "invalid_value", null]);
    }
  });

  it("quotes nothing of the request", () => {
    const result = parseChatRequest('{"model":"m","messages":"secret prompt"}');
    expect(result.ok ? "" : result.error.error.message).not.toContain("secret");
  });

  const shapeOf = (more: Json): unknown => {
    const result = parseChatRequest(JSON.stringify({ ...GOOD, ...more }));
    return result.ok ? result.value.shape : undefined;
  };
  const SHAPE = { n: 1, toolNames: [], namedTool: false, includeUsage: false };
  it.each<[string, Json, Partial<AnswerShape>]>([
    ["nothing said", {}, {}],
    ["n", { n: 3 }, { n: 3 }],
    ["usage", { stream_options: { include_usage: true } }, { includeUsage: true }],
    ["usage false", { stream_options: { include_usage: false } }, {}],
    ["usage as text", { stream_options: { include_usage: "true" } }, {}],
    [
      "tools",
      {
        tools: [
          { type: "function", function: { name: "f" } },
          { type: "custom", custom: { name: "sh" } },
          { type: "function" },
          null,
          5,
        ],
      },
      { toolNames: ["f", "sh"] },
    ],
    ["functions", { functions: [{ name: "f" }] }, { toolNames: ["f"] }],
    ["a named function", { tool_choice: { type: "function", function: { name: "f" } } }, { namedTool: true }],
    ["a named custom tool", { tool_choice: { type: "custom", custom: { name: "f" } } }, { namedTool: true }],
    ["a named legacy function", { function_call: { name: "f" } }, { namedTool: true }],
    ["required", { tool_choice: "required" }, {}],
    [
      "allowed tools name no single one",
      { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [] } } },
      {},
    ],
  ])("shape: %s", (_name, more, expected) => expect(shapeOf(more)).toEqual({ ...SHAPE, ...expected }));
});

describe("combinationOf", () => {
  it("is one for all plain requests", () => {
    const plain = combinationOf(GOOD);
    for (const more of [
      { temperature: 1 },
      { tools: [] },
      { n: 1 },
      { logprobs: false },
      { response_format: { type: "text" } },
      { tools: null, n: null, logprobs: null, response_format: null },
    ]) {
      expect(combinationOf({ ...GOOD, ...more })).toBe(plain);
    }
  });

  it("is another one for each field that may be refused, and for each set of them", () => {
    const fields = [{ tools: [{}] }, { n: 2 }, { logprobs: true }, { response_format: { type: "json_object" } }];
    const sets = Array.from(
      { length: 16 },
      (_, bits) => Object.assign({}, ...fields.filter((_field, i) => (bits >> i) & 1)) as Json,
    );
    expect(new Set(sets.map((set) => combinationOf({ ...GOOD, ...set }))).size).toBe(16);
  });
});
