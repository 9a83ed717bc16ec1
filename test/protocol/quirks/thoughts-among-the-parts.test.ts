import { expect, it } from "vitest";
import { withThoughtsApart } from "../../../src/protocol/quirks/thoughts-among-the-parts.ts";

const thinking = (text: string): object => ({ type: "thinking", thinking: [{ type: "text", text }] });

it.each<[string, Record<string, unknown>, object]>([
  ["a thought alone", { content: [thinking("hm")] }, { reasoning: "hm" }],
  [
    "a thought before the text",
    { role: "assistant", content: [thinking("h"), thinking("m"), { type: "text", text: "42" }] },
    { role: "assistant", content: [{ type: "text", text: "42" }], reasoning: "hm" },
  ],
  ["a thought as a string", { content: [{ type: "thinking", thinking: "hm" }] }, { reasoning: "hm" }],
  [
    "a summary",
    { content: [{ type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] }] },
    { reasoning: "hm" },
  ],
  ["an empty thought", { content: [{ type: "thinking" }] }, {}],
  ["behind another", { reasoning: "h", content: [thinking("m")] }, { reasoning: "hm" }],
])("%s", (_what, said, right) => {
  expect(withThoughtsApart(said)).toEqual(right);
});

it("leaves everything else as it is", () => {
  for (const said of [{ content: "thinking" }, { content: [{ type: "text", text: "x" }] }, { content: null }, {}])
    expect(withThoughtsApart(said)).toBe(said);
});
