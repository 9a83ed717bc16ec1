import { describe, expect, it } from "vitest";
import { conformCompletion } from "../../../src/protocol/chat/completion.ts";
import type { AnswerShape } from "../../../src/protocol/chat/types.ts";
import { identity, SHAPE, type Json } from "./streamed.ts";

const MESSAGE = { role: "assistant", content: "a", refusal: null };
const CHOICE = { index: 0, message: MESSAGE, logprobs: null, finish_reason: "stop" };
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const ANSWER = { id: "chatcmpl-u", object: "chat.completion", created: 5, model: "m", choices: [CHOICE], usage: USAGE };
const CALL = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

const whole = (value: unknown, shape: Partial<AnswerShape> = {}): { text: string; body: Json } | string | null => {
  const result = conformCompletion(
    typeof value === "string" ? value : JSON.stringify(value),
    { ...SHAPE, ...shape },
    identity(),
  );
  return result.ok
    ? { text: result.value.text, body: JSON.parse(result.value.text) as Json }
    : result.error.error.error.code;
};
const body = (value: unknown, shape: Partial<AnswerShape> = {}): Json => {
  const answer = whole(value, shape);
  if (answer === null || typeof answer === "string") throw new Error(`failed: ${String(answer)}`);
  return answer.body;
};
const choice = (more: object, shape: Partial<AnswerShape> = {}): Json =>
  (body({ ...ANSWER, choices: [{ ...CHOICE, ...more }] }, shape)["choices"] as Json[])[0] as Json;
const message = (more: object, finish = "stop"): Json =>
  choice({ message: { ...MESSAGE, ...more }, finish_reason: finish })["message"] as Json;

describe("what holds to the contract passes as it came", () => {
  it.each<[string, unknown, Partial<AnswerShape>?]>([
    ["a plain answer", ANSWER],
    ["without usage", { ...ANSWER, usage: undefined }],
    [
      "a vendor's members",
      { ...ANSWER, prompt_logprobs: null, timings: { x: 1 }, choices: [{ ...CHOICE, stop_reason: null }] },
    ],
    [
      "calls",
      {
        ...ANSWER,
        choices: [
          { ...CHOICE, message: { ...MESSAGE, content: null, tool_calls: [CALL] }, finish_reason: "tool_calls" },
        ],
      },
    ],
    [
      "calls of a named function",
      { ...ANSWER, choices: [{ ...CHOICE, message: { ...MESSAGE, content: null, tool_calls: [CALL] } }] },
      { namedTool: true },
    ],
    ["two choices", { ...ANSWER, choices: [CHOICE, { ...CHOICE, index: 1, finish_reason: "length" }] }, { n: 2 }],
    [
      "a refusal",
      { ...ANSWER, choices: [{ ...CHOICE, message: { role: "assistant", content: null, refusal: "no" } }] },
    ],
  ])("%s", (_name, value, shape) => expect(whole(value, shape)).toMatchObject({ text: JSON.stringify(value) }));

  it("with its spacing, key order and number spelling", () => {
    const text = `{ "created":5, "seed":9007199254740993,"x":1.50, "choices" : [${JSON.stringify(CHOICE)}],"model":"m","object":"chat.completion","id":"i" }\n`;
    expect(whole(text)).toMatchObject({ text });
  });
});

describe("what does not is repaired, and nothing else is lost", () => {
  it.each<[string, Json, Json]>([
    [
      "id, created, model, object missing",
      { choices: [CHOICE] },
      {
        id: "chatcmpl-made1",
        object: "chat.completion",
        created: 1_700_000_000,
        model: "asked-model",
        choices: [CHOICE],
      },
    ],
    ["id empty", { ...ANSWER, id: "" }, { ...ANSWER, id: "chatcmpl-made1" }],
    ["created a fraction", { ...ANSWER, created: 5.7 }, ANSWER],
    ["another object", { ...ANSWER, object: "chat.completion.chunk" }, ANSWER],
    ["usage without a total", { ...ANSWER, usage: { prompt_tokens: 1, completion_tokens: 2 } }, ANSWER],
    ["a usage that says nothing", { ...ANSWER, usage: { x: 1 } }, { ...ANSWER, usage: undefined }],
    ["a list with one answer", [ANSWER] as unknown as Json, ANSWER],
    [
      "index missing",
      {
        ...ANSWER,
        choices: [
          { ...CHOICE, index: undefined },
          { ...CHOICE, index: undefined },
        ],
      },
      { ...ANSWER, choices: [CHOICE, { ...CHOICE, index: 1 }] },
    ],
    [
      "the same index twice",
      { ...ANSWER, choices: [CHOICE, CHOICE] },
      { ...ANSWER, choices: [CHOICE, { ...CHOICE, index: 1 }] },
    ],
    ["error: null beside an answer", { ...ANSWER, error: null }, { ...ANSWER, error: null }],
  ])("%s", (_name, value, expected) =>
    expect(body(value)).toEqual({
      ...(JSON.parse(JSON.stringify(expected)) as Json),
      ...("error" in expected ? { error: (body(value) as { error?: unknown }).error } : {}),
    }),
  );

  it.each<[string, object, string, object]>([
    ["role missing", { role: undefined }, "stop", MESSAGE],
    ["role of another word", { role: "model" }, "stop", MESSAGE],
    ["refusal missing", { refusal: undefined }, "stop", MESSAGE],
    ["content missing", { content: undefined, refusal: "no" }, "stop", { ...MESSAGE, content: null, refusal: "no" }],
    [
      "content as blocks",
      { content: [{ type: "text", text: "a" }, { text: { value: "b" } }, "c", 5, { type: "image" }] },
      "stop",
      { ...MESSAGE, content: "abc5" },
    ],
    ["content a number", { content: 5 }, "stop", { ...MESSAGE, content: "5" }],
    ["empty tool_calls", { tool_calls: [] }, "stop", MESSAGE],
    ["tool_calls null", { tool_calls: null }, "stop", MESSAGE],
    [
      "content empty beside calls",
      { content: "", tool_calls: [CALL] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [CALL] },
    ],
    [
      "a call with an index",
      { content: null, tool_calls: [{ index: 0, ...CALL }] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [CALL] },
    ],
    [
      "a call without id and type",
      { content: null, tool_calls: [{ function: CALL.function }] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [{ ...CALL, id: "call_made1" }] },
    ],
    [
      "two calls of one id",
      { content: null, tool_calls: [CALL, CALL] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [CALL, { ...CALL, id: "call_made1" }] },
    ],
    [
      "arguments as an object",
      { content: null, tool_calls: [{ ...CALL, function: { name: "f", arguments: { a: 1 } } }] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [{ ...CALL, function: { name: "f", arguments: '{"a":1}' } }] },
    ],
    [
      "arguments null",
      { content: null, tool_calls: [{ ...CALL, function: { name: "f", arguments: null } }] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [CALL] },
    ],
    [
      "arguments empty",
      { content: null, tool_calls: [{ ...CALL, function: { name: "f", arguments: "" } }] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [CALL] },
    ],
    [
      "an id that is a number",
      { content: null, tool_calls: [{ ...CALL, id: 7 }] },
      "tool_calls",
      { ...MESSAGE, content: null, tool_calls: [{ ...CALL, id: "7" }] },
    ],
    [
      "legacy arguments as an object",
      { content: "", function_call: { name: "f", arguments: { a: 1 } } },
      "function_call",
      { ...MESSAGE, content: null, function_call: { name: "f", arguments: '{"a":1}' } },
    ],
    ["reasoning as blocks", { reasoning: [{ type: "text", text: "r" }] }, "stop", { ...MESSAGE, reasoning: "r" }],
  ])("message: %s", (_name, more, finish, expected) => expect(message(more, finish)).toEqual(expected));

  it.each<[string, object, unknown, Partial<AnswerShape>?]>([
    ["eos", { finish_reason: "eos" }, "stop"],
    ["max_tokens", { finish_reason: "max_tokens" }, "length"],
    ["stop with calls", { message: { ...MESSAGE, content: null, tool_calls: [CALL] } }, "tool_calls"],
    [
      "stop with calls of a named function",
      { message: { ...MESSAGE, content: null, tool_calls: [CALL] } },
      "stop",
      { namedTool: true },
    ],
    ["tool_calls without any, but text", { finish_reason: "tool_calls" }, "stop"],
    ["length with calls", { message: { ...MESSAGE, tool_calls: [CALL] }, finish_reason: "length" }, "length"],
  ])("finish: %s", (_name, more, expected, shape) => expect(choice(more, shape)["finish_reason"]).toBe(expected));

  it("a choice read from delta or text", () => {
    expect(choice({ message: undefined, delta: { content: "a" } })["message"]).toEqual(MESSAGE);
    expect(choice({ message: undefined, text: "a" })["message"]).toEqual(MESSAGE);
  });

  it("logprobs missing are null", () => expect(choice({ logprobs: undefined })).toHaveProperty("logprobs", null));

  it("numbers keep their spelling in what is written anew", () => {
    const text = JSON.stringify({ ...ANSWER, id: "", vendor: "@" }).replace('"@"', "[9007199254740993,1.50]");
    expect((whole(text) as { text: string }).text).toContain('"vendor":[9007199254740993,1.50]');
  });

  it("NaN and Infinity become legal", () => {
    const text = JSON.stringify({
      ...ANSWER,
      choices: [{ ...CHOICE, logprobs: { content: [{ token: "NaN", logprob: "@" }], refusal: null } }],
    }).replace('"@"', "-Infinity");
    expect((whole(text) as { text: string }).text).toContain('{"token":"NaN","logprob":-9999.0,');
  });
});

describe("what cannot be repaired without inventing is a failure", () => {
  it.each<[string, unknown, string]>([
    ["nothing", "", "upstream_invalid"],
    ["no JSON", "hello", "upstream_invalid"],
    ["half a JSON", '{"id":"x","choices":[', "upstream_invalid"],
    ["no object", "5", "upstream_invalid"],
    ["null", "null", "upstream_invalid"],
    ["an empty object", {}, "upstream_invalid"],
    ["no choices", { ...ANSWER, choices: undefined }, "upstream_invalid"],
    ["empty choices", { ...ANSWER, choices: [] }, "upstream_invalid"],
    ["a choice that is no object", { ...ANSWER, choices: [5] }, "upstream_invalid"],
    ["no message", { ...ANSWER, choices: [{ ...CHOICE, message: undefined }] }, "upstream_invalid"],
    ["message null", { ...ANSWER, choices: [{ ...CHOICE, message: null }] }, "upstream_invalid"],
    ["finish abort", { ...ANSWER, choices: [{ ...CHOICE, finish_reason: "abort" }] }, "upstream_failed"],
    ["finish error", { ...ANSWER, choices: [{ ...CHOICE, finish_reason: "error" }] }, "upstream_failed"],
    ["finish load", { ...ANSWER, choices: [{ ...CHOICE, finish_reason: "load" }] }, "upstream_failed"],
    [
      "tool_calls without calls or text",
      { ...ANSWER, choices: [{ ...CHOICE, message: { ...MESSAGE, content: null }, finish_reason: "tool_calls" }] },
      "upstream_invalid",
    ],
    [
      "a call without a name",
      {
        ...ANSWER,
        choices: [
          {
            ...CHOICE,
            message: { ...MESSAGE, tool_calls: [{ id: "c", function: { arguments: "{}" } }] },
            finish_reason: "tool_calls",
          },
        ],
      },
      "upstream_invalid",
    ],
    ["an error under a 200", { error: { message: "x", code: 500 } }, "upstream_failed"],
    ["a flat error under a 200", { object: "error", message: "x" }, "upstream_failed"],
    ["an error beside choices", { ...ANSWER, error: { message: "x" } }, "upstream_failed"],
    ["detail under a 200", { detail: "Not Found" }, "upstream_failed"],
    [
      "nested without end",
      `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"x":${"[".repeat(5000)}${"]".repeat(5000)}},"finish_reason":"eos"}]}`,
      "upstream_invalid",
    ],
  ])("%s", (_name, value, code) => expect(whole(value)).toBe(code));

  it.each([
    ["missing", undefined],
    ["null", null],
    ["empty", ""],
  ])("a finish_reason that is %s", (_name, finish_reason) => {
    expect(["upstream_cut", "upstream_invalid"]).toContain(
      whole({ ...ANSWER, choices: [{ ...CHOICE, finish_reason }] }),
    );
  });

  it("an error under a 200 has the status it names", () => {
    const result = conformCompletion(
      '{"error":{"message":"too long","type":"BadRequestError","code":400}}',
      SHAPE,
      identity(),
    );
    expect(result.ok ? undefined : [result.error.error.status, result.error.error.error.message]).toEqual([
      400,
      "too long",
    ]);
  });
});
