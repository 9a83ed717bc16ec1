// What is asked of each server of the table, and what its answer has to say.
import type { Call, Saying } from "./dialect.ts";

export const SCENES = [
  "text",
  "tools",
  "parallel tools",
  "reasoning",
  "json_schema",
  "n=2",
  "logprobs",
  "usage",
  "error",
  "failure",
] as const;
export type SceneName = (typeof SCENES)[number];

const WEATHER: Call = { id: "call_9f1c4e2a", name: "get_weather", args: '{"city":"Köln"}' };
const CLOCK: Call = { id: "call_77b0d5e3", name: "get_time", args: '{"zone":"Europe/Berlin"}' };

const GREETING: Saying = { text: ["Grü", "ße, ", "Welt ", "👋"] };

/** The choices of an answer; where there is one at a time, the first of them and then the next. */
export const SAYINGS: Readonly<Record<SceneName, readonly Saying[]>> = {
  text: [GREETING],
  tools: [{ calls: [WEATHER] }],
  "parallel tools": [{ calls: [WEATHER, CLOCK] }],
  reasoning: [{ reasoning: "Let me think.\n", text: ["4", "2"] }],
  json_schema: [{ text: ['{"city"', ':"Köln"}'] }],
  "n=2": [{ text: ["he", "ads"] }, { text: ["tai", "ls"] }],
  logprobs: [{ text: ["Hi", "!", " ü"] }],
  usage: [GREETING],
  error: [GREETING],
  failure: [GREETING],
};

export const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;

const tool = (name: string, member: string): object => ({
  type: "function",
  function: {
    name,
    description: "About a place.",
    parameters: { type: "object", properties: { [member]: { type: "string" } }, required: [member] },
  },
});
export const TOOLS = [tool("get_weather", "city"), tool("get_time", "zone")];

/** The members of a request beside its messages. */
export function membersOf(scene: SceneName): Record<string, unknown> {
  switch (scene) {
    case "tools":
    case "parallel tools":
      return { tools: TOOLS };
    case "json_schema":
      return { response_format: { type: "json_schema", json_schema: { name: "place", strict: true, schema: SCHEMA } } };
    case "n=2":
      return { n: 2 };
    case "logprobs":
      return { logprobs: true, top_logprobs: 2 };
    default:
      return {};
  }
}
