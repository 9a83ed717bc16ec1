import { expect, test } from "vitest";
import { ask, gist, ways } from "../ask.ts";
import { verbatim } from "../say.ts";

test("many at once: each gets its own answer, and all of it", async () => {
  const asked = Array.from({ length: 48 }, async (_, i) => {
    const way = ways[i % ways.length] ?? { model: "tiny", mode: "whole" };
    const answer = await ask(way, verbatim(`<think>thought ${i} 🙂</think>answer ${i} 日本`));
    return { gist: gist(answer), id: answer.completion.id };
  });
  const answers = await Promise.all(asked);
  for (const [i, answer] of answers.entries()) {
    expect(answer.gist).toEqual([
      { content: `answer ${i} 日本`, reasoning: `thought ${i} 🙂`, calls: [], finish: "stop" },
    ]);
  }
  expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length);
});
