import { describe, expect, test } from "vitest";
import { ask, gist, ways } from "../ask.ts";
import { viaGateway } from "../client.ts";
import { verbatim } from "../say.ts";

describe.each(ways)("reasoning: $model, $mode", (way) => {
  test("a thought, then the answer", async () => {
    expect(gist(await ask(way, verbatim("<think>hm 日本</think>Hi")))).toEqual([
      { content: "Hi", reasoning: "hm 日本", calls: [], finish: "stop" },
    ]);
  });

  test("line breaks stay where they were", async () => {
    expect(gist(await ask(way, verbatim("<think>\nhm\n</think>\n\nHi")))).toMatchObject([
      { content: "\n\nHi", reasoning: "\nhm\n" },
    ]);
  });

  test("the opening tag was in the prompt", async () => {
    expect(gist(await ask(way, verbatim("hm</think>Hi")))).toMatchObject([{ content: "Hi", reasoning: "hm" }]);
  });

  test("a thought that never ends is no text", async () => {
    const answer = await ask(way, { ...verbatim("<think>hmmmmm"), max_tokens: 4 });
    expect(gist(answer)).toEqual([{ content: "", reasoning: "hmm", calls: [], finish: "length" }]);
  });

  test("include_reasoning false hides it", async () => {
    const answer = await ask(way, { ...verbatim("<think>hm</think>Hi"), include_reasoning: false });
    expect(gist(answer)).toEqual([{ content: "Hi", reasoning: "", calls: [], finish: "stop" }]);
  });

  test("two choices, each with its thought", async () => {
    const answer = await ask(way, { ...verbatim("<think>hm</think>Hi"), n: 2 });
    expect(gist(answer).map(({ content, reasoning }) => [content, reasoning])).toEqual([
      ["Hi", "hm"],
      ["Hi", "hm"],
    ]);
  });

  test("it is counted", async () => {
    const { completion } = await ask(way, verbatim("<think>hm</think>Hi"));
    expect(completion.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  test("the client sends the thought back", async () => {
    const first = await ask(way, verbatim("<think>hm</think>Hi"));
    const message = first.completion.choices[0]?.message;
    if (message === undefined) throw new Error("no message");
    const messages = [{ role: "user" as const, content: "hi" }, message, { role: "user" as const, content: "and?" }];
    expect(gist(await ask(way, { ...verbatim("<think>so</think>Yes"), messages }))).toMatchObject([
      { content: "Yes", reasoning: "so" },
    ]);
  });
});

test.runIf(viaGateway)("an answer that only thought has content null", async () => {
  const { completion } = await ask({ model: "tiny", mode: "whole" }, { ...verbatim("<think>hmmmmm"), max_tokens: 4 });
  expect(completion.choices[0]?.message.content).toBeNull();
});
