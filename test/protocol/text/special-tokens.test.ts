import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mayEndSpecially } from "../../../src/protocol/text/special-tokens.ts";
import { createTextPass } from "../../../src/protocol/text/pass.ts";
import { answerOf, everySplit, sameAnswer } from "./passes.ts";

const TOKENS = [
  "<|eot_id|>",
  "<|eom_id|>",
  "<|im_end|>",
  "<|end_of_text|>",
  "<|endoftext|>",
  "</s>",
  "<|end|>",
  "<|eot|>",
  "<|return|>",
  "<|call|>",
  "<end_of_turn>",
  "<｜end▁of▁sentence｜>",
];

describe.each(TOKENS)("the special token %s", (token) => {
  it("is taken from the end of a text, whole and at every split", () => {
    expect(sameAnswer(`Hi < there${token}`, {}).content).toBe("Hi < there");
    expect(sameAnswer(`Hi${token}\n${token} \n`, {}).content).toBe("Hi");
    expect(sameAnswer(token, {}).content).toBe("");
  });

  it("stays in the middle", () => {
    for (const text of [`Hi${token}there`, `${token}${token} x`, `${token}<`, `${token}${token.slice(0, -1)}`]) {
      expect(sameAnswer(text, {}).content).toBe(text);
    }
  });

  it("stays when it is not complete", () => {
    for (let end = 1; end < token.length; end++)
      expect(sameAnswer(`Hi${token.slice(0, end)}`, {}).content).toBe(`Hi${token.slice(0, end)}`);
  });

  it("is seen at the end of a text", () => {
    for (let end = 1; end <= token.length; end++) expect(mayEndSpecially(`Hi${token.slice(0, end)}`)).toBe(true);
    expect(mayEndSpecially(`Hi${token} \n`)).toBe(true);
    expect(mayEndSpecially(`Hi${token}${" ".repeat(50)}`)).toBe(true);
    expect(mayEndSpecially(`Hi${token}.`)).toBe(false);
  });

  it("is taken from the end of thoughts too", () => {
    expect(sameAnswer(`<think>hm${token}`, { reasoningFamily: "think" }).reasoning).toMatch(/^hm$/);
  });
});

describe("special tokens", () => {
  it("are not seen in ordinary text", () => {
    for (const text of ["", "a", "a > b", "1 < 2", "<p>", "<|", "</sp>"].filter((one) => one !== "<|")) {
      expect(mayEndSpecially(text)).toBe(false);
    }
  });

  it("mean a call, or nothing", () => {
    expect(sameAnswer("x<|eom_id|>", {}).finish).toBe("tool_calls");
    expect(sameAnswer("x<|eot_id|>", {}).finish).toBe("stop");
    expect(sameAnswer("x<|eom_id|>", {}, "length").finish).toBe("length");
    expect(sameAnswer("x<|eom_id|>", { toolFamily: "llama3", tools: [{ name: "f" }] }).finish).toBe("stop");
  });

  it("are not waited for without end", () => {
    const endless = "<|im_end|>".repeat(1000);
    const { content } = answerOf(everySplit(endless)[1] ?? [], {});
    expect(content.length).toBeGreaterThan(endless.length - 1100);
    expect(answerOf([endless], {}).content).toBe(content);
  });

  it("change no other text", () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...TOKENS, "<", "|", " "), fc.string({ maxLength: 3 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, (parts) => {
        const { content } = sameAnswer(parts.join(""), {});
        expect(parts.join("").startsWith(content)).toBe(true);
        expect(content.length === parts.join("").length || TOKENS.some((token) => parts.includes(token))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe("the deltas of a choice", () => {
  const pass = (): ReturnType<typeof createTextPass> =>
    createTextPass({
      toolFamily: "hermes",
      reasoningFamily: "think",
      tools: [{ name: "f" }],
      toolChoice: "auto",
      parallel: true,
      model: "",
    });

  it("are the same objects where they change nothing", () => {
    const choice = pass();
    for (const delta of [
      { role: "assistant", content: "" },
      { reasoning: "r" },
      { tool_calls: [{ index: 0 }] },
      { content: null },
      { content: "Hi" },
      { content: "there", extra: 1 },
    ]) {
      expect(choice.take(delta)[0]).toBe(delta);
    }
  });

  it("keep what stands beside the text", () => {
    expect(pass().take({ role: "assistant", content: "<think>x</think>Hi <", extra: 1 })).toEqual([
      { role: "assistant", extra: 1 },
      { reasoning: "x" },
      { content: "Hi " },
    ]);
    expect(pass().take({ role: "assistant", content: "Hi <" })).toEqual([{ role: "assistant", content: "Hi " }]);
    expect(pass().take({ role: "assistant", content: "<" })).toEqual([{ role: "assistant" }]);
  });

  it("read text in whatever form it comes", () => {
    expect(pass().take({ content: [{ type: "text", text: "<think>x" }] })).toEqual([{ reasoning: "x" }]);
  });
});
