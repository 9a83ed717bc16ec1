import { describe, expect, it } from "vitest";
import { parseLossless } from "../../../src/protocol/json/lossless.ts";
import { areChatLogprobs, chatLogprobs } from "../../../src/protocol/quirks/logprobs-in-other-shapes.ts";

const entry = (token: string, logprob: number, top: object[] = []): object => ({
  token,
  logprob,
  bytes: token.includes("\ufffd") ? null : [...new TextEncoder().encode(token)],
  top_logprobs: top,
});
const bare = (token: string, logprob: number): object => ({
  token,
  logprob,
  bytes: [...new TextEncoder().encode(token)],
});
const content = (...list: object[]): object => ({ content: list, refusal: null });

describe("logprobs in other shapes", () => {
  it.each<[string, unknown, string, object | null]>([
    ["one number for the text of a delta", -0.5, "Hé", content(entry("Hé", -0.5))],
    ["a certain token", 0, "H", content(entry("H", 0))],
    ["one number for no text", -0.5, "", null],
    ["a list of one number", [-0.5], "H", content(entry("H", -0.5))],
    ["numbers that belong to nobody knows which tokens", [-0.5, -0.6], "Hi", content()],
    ["lists in step", { tokens: ["H", "i"], token_logprobs: [-1, -2] }, "Hi", content(entry("H", -1), entry("i", -2))],
    ["lists of different lengths", { tokens: ["H", "i"], token_logprobs: [-1] }, "Hi", content(entry("H", -1))],
    ["... and the other way", { tokens: ["H"], token_logprobs: [-1, -2] }, "H", content(entry("H", -1))],
    ["a first token without one", { tokens: ["<s>", "H"], token_logprobs: [null, -1] }, "H", content(entry("H", -1))],
    [
      "a later token without one",
      { tokens: ["H", "i"], token_logprobs: [-1, null] },
      "Hi",
      content(entry("H", -1), entry("i", -9999)),
    ],
    [
      "alternatives as a map, best first",
      { tokens: ["H"], token_logprobs: [-1], top_logprobs: [{ J: -3, H: -1, K: -2 }] },
      "H",
      content(entry("H", -1, [bare("H", -1), bare("K", -2), bare("J", -3)])),
    ],
    [
      "a map that has the token alone",
      { tokens: ["H"], token_logprobs: [-1], top_logprobs: [{ H: -1 }] },
      "H",
      content(entry("H", -1)),
    ],
    ["half a character", { tokens: ["\ufffd"], token_logprobs: [-1] }, "", content(entry("\ufffd", -1))],
    [
      "a map, of which the text tells the token",
      { J: -1, H: -2 },
      "H",
      content(entry("H", -2, [bare("J", -1), bare("H", -2)])),
    ],
    [
      "a map, of which the text tells nothing",
      { J: -1, H: -2 },
      "",
      content(entry("J", -1, [bare("J", -1), bare("H", -2)])),
    ],
    [
      "tokens that are called prototype",
      { tokens: ["__proto__"], token_logprobs: [-1] },
      "",
      content(entry("__proto__", -1)),
    ],
    ["no lists at all", { tokens: "H", token_logprobs: -1 }, "H", null],
    ["a word", "high", "H", null],
    ["true", true, "H", null],
    ["nothing", undefined, "H", null],
    ["null", null, "H", null],
    ["an empty list", [], "H", content()],
  ])("%s", (_what, value, text, right) => {
    expect(chatLogprobs(value, text)).toEqual(right);
  });

  it("fills what entries of the right shape lack, and keeps what they have beside it", () => {
    const value = {
      content: [{ id: 7, token: "H", logprob: null, top_logprobs: [{ id: 8, token: "J", logprob: -1 }] }],
    };
    expect(chatLogprobs(value, "H")).toEqual({
      content: [{ id: 7, ...entry("H", -9999, [{ id: 8, ...bare("J", -1) }]) }],
      refusal: null,
    });
  });

  it("keeps the spelling of numbers", () => {
    const value = parseLossless(
      '{"tokens":["H","i"],"token_logprobs":[-0.10,-1e-7],"top_logprobs":[{"J":-2.50,"H":-0.10}]}',
    );
    expect(JSON.stringify(chatLogprobs(value, "Hi"))).toContain(
      '"logprob":-0.10,"bytes":[72],"top_logprobs":[{"token":"H","logprob":-0.10',
    );
    expect(JSON.stringify(chatLogprobs(value, "Hi"))).toContain('"logprob":-1e-7');
  });

  it("leaves alone what is right", () => {
    for (const value of [
      { content: [entry("H", -1, [bare("H", -1)])], refusal: null },
      { content: [entry("H", -1)] },
      { content: null, refusal: [entry("No", -1)] },
      { content: null, refusal: null },
      { content: [] },
    ]) {
      expect(areChatLogprobs(value)).toBe(true);
      expect(chatLogprobs(value, "H")).toBe(value);
    }
    for (const value of [
      null,
      1,
      [],
      { tokens: [] },
      { content: [{ token: "H" }] },
      { content: [{ ...entry("H", 1), bytes: "H" }] },
    ])
      expect(areChatLogprobs(value)).toBe(false);
  });
});
