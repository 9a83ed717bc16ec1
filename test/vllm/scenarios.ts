import type { Gist } from "./ask.ts";
import { callText, clock, say, verbatim, weather, type Body } from "./say.ts";

/** One answer of a model that writes calls and thoughts as text, and what it says. */
export interface Scenario {
  readonly name: string;
  readonly body: Body;
  /** White space around calls left out. */
  readonly says: Gist;
  /** vLLM's own parsers read it otherwise, for the reason given. */
  readonly unlikeVllm?: string;
}

export const oslo = '{"city": "Oslo", "days": 2}';
export const osloCall = callText("get_weather", oslo);
const weatherCall = { name: "get_weather", arguments: oslo };
const nowCall = { name: "now", arguments: "{}" };
const nested = String.raw`{"city": "a \"}\" {b", "note": {"x": [1, {"y": "]}"}], "z": "é 日本 \\"}, "end": "</tool_call"}`;
const broken = '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n</tool_call>';

const gist = (said: Partial<Gist>): Gist => ({ content: "", reasoning: "", calls: [], finish: "stop", ...said });
const called = (...calls: Gist["calls"]): Gist => gist({ calls, finish: "tool_calls" });

/** Says it with a thought: nothing tells the template to leave it out. */
const think = (text: string): Body => verbatim(text);

export const scenarios: readonly Scenario[] = [
  { name: "one call", body: { ...say(osloCall), tools: [weather] }, says: called(weatherCall) },
  {
    name: "two calls",
    body: { ...say(`${osloCall}\n${callText("now", "{}")}`), tools: [weather, clock] },
    says: called(weatherCall, nowCall),
  },
  {
    name: "text before a call",
    body: { ...say(`Let me look.\n${osloCall}`), tools: [weather] },
    says: { ...called(weatherCall), content: "Let me look.\n" },
  },
  {
    name: "arguments with nested braces, quotes and half a tag",
    body: { ...say(callText("get_weather", nested)), tools: [weather] },
    says: called({ name: "get_weather", arguments: nested }),
  },
  {
    name: "text alone",
    body: { ...say("No need, {really}: <b>."), tools: [weather] },
    says: gist({ content: "No need, {really}: <b>." }),
  },
  {
    name: "parallel_tool_calls false",
    body: {
      ...say(`${callText("now", "{}")}\n${osloCall}`),
      tools: [weather, clock],
      parallel_tool_calls: false,
    },
    says: called(nowCall),
  },
  {
    name: "tool_choice none",
    body: { ...say(osloCall), tools: [weather], tool_choice: "none" },
    says: gist({ content: osloCall }),
  },
  { name: "no tools", body: say(osloCall), says: gist({ content: osloCall }) },
  {
    name: "an unknown tool",
    body: { ...say(callText("rm_rf", "{}")), tools: [weather] },
    says: gist({ content: callText("rm_rf", "{}") }),
    unlikeVllm: "it is a call there, which no client can answer",
  },
  {
    name: "an unknown tool beside a known one",
    body: { ...say(`${callText("rm_rf", "{}")}\n${osloCall}`), tools: [weather] },
    says: { ...called(weatherCall), content: `${callText("rm_rf", "{}")}\n` },
    unlikeVllm: "it is a call there, which no client can answer",
  },
  {
    name: "arguments that are not JSON",
    body: { ...say(broken), tools: [weather] },
    says: gist({ content: broken }),
    unlikeVllm: "it is a call with half the arguments there when streamed",
  },
  {
    name: "a call cut by max_tokens",
    body: { ...say(osloCall), tools: [weather], max_tokens: 60 },
    says: gist({ content: `<tool_call>${osloCall.slice("<tool_call>".length).slice(0, 59)}`, finish: "length" }),
    unlikeVllm: "it is half a call there when streamed",
  },
  {
    name: "a thought, then text",
    body: think("<think>hm 日本</think>Hi"),
    says: gist({ reasoning: "hm 日本", content: "Hi" }),
  },
  {
    name: "a thought between line breaks",
    body: think("<think>\nhm\n</think>\n\nHi"),
    says: gist({ reasoning: "\nhm\n", content: "\n\nHi" }),
  },
  {
    name: "a thought, then a call",
    body: { ...think(`<think>hm</think>${osloCall}`), tools: [weather] },
    says: { ...called(weatherCall), reasoning: "hm" },
  },
  {
    name: "a thought, text and two calls",
    body: { ...think(`<think>hm</think>Look:${osloCall}\n${callText("now", "{}")}`), tools: [weather, clock] },
    says: { ...called(weatherCall, nowCall), reasoning: "hm", content: "Look:" },
  },
  {
    name: "a thought that never ends",
    body: { ...think("<think>hmmmmm"), max_tokens: 4 },
    says: gist({ reasoning: "hmm", finish: "length" }),
  },
  { name: "an empty thought", body: think("<think></think>Hi"), says: gist({ content: "Hi" }) },
  {
    name: "a thought that nobody wants to hear",
    body: { ...think("<think>hm</think>Hi"), include_reasoning: false },
    says: gist({ content: "Hi" }),
  },
];

/** A choice as the scenarios tell it: the spelling of JSON and the white space around calls are nobody's. */
export function told({ content, reasoning, calls, finish }: Gist): unknown {
  return {
    content: calls.length > 0 ? content.trimEnd() : content,
    reasoning,
    calls: calls.map(({ name, arguments: args }) => ({ name, arguments: parsedOr(args) })),
    finish,
  };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
