/** A chat that has everything in it: instructions, parts, two calls, their results. */
export const CALLS = [
  { role: "system", content: " Be brief. " },
  {
    role: "user",
    content: [
      { type: "text", text: "Weather" },
      { type: "text", text: "in Oslo?" },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city": "Oslo", "days": 2}' } },
    ],
  },
  { role: "tool", tool_call_id: "call_1", content: 'say "rain"' },
  { role: "user", content: "Thanks" },
];

export const TOOL = {
  type: "function",
  function: {
    name: "weather",
    description: "<w>",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};
