import { describe, expect, it } from "vitest";
import { sameAnswer, type Answer } from "./passes.ts";

// What vLLM 0.32 answered (whole) to a model that said these texts, with its parsers hermes and qwen3.
const weather = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2}}';
const called = { name: "get_weather", args: { city: "Oslo", days: 2 } };
const now = { name: "now", args: {} };
const tools = [
  {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
  },
  { name: "now", parameters: { type: "object", properties: {} } },
];

const ANSWERS: readonly (readonly [text: string, thinking: boolean, answer: Partial<Answer>])[] = [
  ["<think>hm</think>Hi", true, { reasoning: "hm", content: "Hi" }],
  ["<think>\nhm\n</think>\n\nHi", true, { reasoning: "\nhm\n", content: "\n\nHi" }],
  ["hm</think>Hi", true, { reasoning: "hm", content: "Hi" }],
  ["Hi", true, { reasoning: "Hi", content: "" }],
  ["<think>hmm", true, { reasoning: "hmm", content: "" }],
  ["Hi", false, { content: "Hi" }],
  [`<think>hm</think><tool_call>\n${weather}\n</tool_call>`, true, { reasoning: "hm", content: "", calls: [called] }],
  [`Let me look.\n<tool_call>\n${weather}\n</tool_call>`, false, { content: "Let me look.\n", calls: [called] }],
  [
    `<tool_call>\n${weather}\n</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>`,
    false,
    { content: "", calls: [called, now] },
  ],
  [
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n</tool_call>',
    false,
    { content: '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n</tool_call>' },
  ],
];

describe("what vLLM's own parsers say", () => {
  it.each(ANSWERS)("is what we say of %j", (text, thinking, { reasoning = "", content, calls = [] }) => {
    const answer = sameAnswer(text, { toolFamily: "hermes", reasoningFamily: "think-open", opened: thinking, tools });
    expect(answer).toEqual({ reasoning, content, calls, finish: calls.length > 0 ? "tool_calls" : "stop" });
  });
});
