import { describe, expect, it } from "vitest";
import { logprobsOfText } from "../../src/protocol/chat/text-logprobs.ts";

describe("logprobs of a completion, as a chat has them", () => {
  it("has the best first, and no more than were asked for", () => {
    const said = {
      tokens: ["a", "é"],
      token_logprobs: [-2, -0.5],
      top_logprobs: [{ b: -1, c: -3, a: -2 }, { é: -0.5 }],
      text_offset: [0, 1],
    };
    expect(logprobsOfText(said, 2)).toEqual({
      content: [
        {
          token: "a",
          logprob: -2,
          bytes: [97],
          top_logprobs: [
            { token: "b", logprob: -1, bytes: [98] },
            { token: "a", logprob: -2, bytes: [97] },
          ],
        },
        {
          token: "é",
          logprob: -0.5,
          bytes: [195, 169],
          top_logprobs: [{ token: "é", logprob: -0.5, bytes: [195, 169] }],
        },
      ],
      refusal: null,
    });
    expect(logprobsOfText(said, 0)).toMatchObject({ content: [{ top_logprobs: [] }, { top_logprobs: [] }] });
  });

  it("leaves out what has no value, and has no bytes for a part of a character", () => {
    expect(logprobsOfText({ tokens: ["x", "\ufffd", "z"], token_logprobs: [null, -1], top_logprobs: null }, 2)).toEqual(
      {
        content: [{ token: "\ufffd", logprob: -1, bytes: null, top_logprobs: [] }],
        refusal: null,
      },
    );
  });

  it.each([
    [null, null],
    [undefined, null],
    [{ content: [] }, { content: [] }],
  ])("%j stays", (said, told) => {
    expect(logprobsOfText(said, 1)).toEqual(told);
  });
});
