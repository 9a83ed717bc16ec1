import { describe, expect, it } from "vitest";
import { parseTextRequest, textCombinationOf } from "../../../src/protocol/completions/request.ts";

const parse = (members: object): ReturnType<typeof parseTextRequest> =>
  parseTextRequest(JSON.stringify({ model: "m", prompt: "hi", ...members }));

describe("a request for text completions", () => {
  it.each<[string, object, number]>([
    ["a text", {}, 1],
    ["an empty text", { prompt: "" }, 1],
    ["a list of texts", { prompt: ["a", "b", "c"] }, 3],
    ["token ids", { prompt: [1, 2, 3] }, 1],
    ["lists of token ids", { prompt: [[1, 2], [3]] }, 2],
    ["prompt_embeds", { prompt: undefined, prompt_embeds: "AAAA" }, 1],
    ["max_tokens 0", { max_tokens: 0, echo: true }, 1],
    ["several choices each", { prompt: ["a", "b"], n: 3 }, 6],
  ])("%s", (_what, members, choices) => {
    const parsed = parse(members);
    expect(parsed.ok && parsed.value.shape.choices).toBe(choices);
  });

  it.each<[string, object, string]>([
    ["no prompt", { prompt: undefined }, "prompt"],
    ["a prompt null", { prompt: null }, "prompt"],
    ["an empty list", { prompt: [] }, "prompt"],
    ["a number", { prompt: 5 }, "prompt"],
    ["a mixed list", { prompt: ["a", 1] }, "prompt"],
    ["token ids that are no integers", { prompt: [1.5] }, "prompt"],
    ["lists of texts in a list", { prompt: [["a"]] }, "prompt"],
    ["no model", { model: undefined }, "model"],
    ["n 0", { n: 0 }, "n"],
    ["stream in words", { stream: "yes" }, "stream"],
    ["more choices than can be", { n: 100_000 }, "prompt"],
  ])("%s is a 400 that names it", (_what, members, param) => {
    const parsed = parse(members);
    if (parsed.ok) throw new Error("it passed");
    expect(parsed.error).toMatchObject({ status: 400, error: { param } });
    expect(parsed.error.error.message).not.toContain("yes");
  });

  it("tells combinations apart", () => {
    const all = [{}, { n: 2 }, { best_of: 2 }, { logprobs: 0 }, { echo: true }].map((body) =>
      textCombinationOf(body, 1),
    );
    expect(new Set([...all, textCombinationOf({}, 2)]).size).toBe(6);
  });
});
