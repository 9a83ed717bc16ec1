import { describe, expect, it } from "vitest";
import { joinedText, textSeries } from "../../../src/protocol/completions/series.ts";
import { readStream } from "../../conformance/strict.ts";
import { chunk, HEAD, identity, streamed, usageChunk, wire } from "./through.ts";

const answer = (id: string, text: string, tokens: number): string =>
  wire(
    { ...chunk(text), id },
    { ...chunk("", "stop"), id },
    { ...usageChunk({ prompt_tokens: 1, completion_tokens: tokens, total_tokens: 1 + tokens }), id },
    "[DONE]",
  );
const whole = (text: string, usage?: object): { body: Record<string, unknown>; text: string } => ({
  body: {
    ...HEAD,
    id: "w",
    choices: [{ index: 0, text, logprobs: null, finish_reason: "stop" }],
    ...(usage === undefined ? {} : { usage }),
  },
  text: "",
});

describe("prompts asked one by one are read as one answer", () => {
  it.each([true, false])("as one stream, usage asked for: %s", (includeUsage) => {
    const [first, second, third] = textSeries({ prompts: 3, copies: 1, n: 1, includeUsage }, identity());
    if (first === undefined || second === undefined || third === undefined) throw new Error("three forms");
    const out =
      streamed(first.stream(identity()), [Buffer.from(answer("one", "A", 2))]) +
      second.reframed(whole("B", { prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 })) +
      streamed(third.stream(identity()), [Buffer.from(answer("three", "C", 3))]);
    const reading = readStream(Buffer.from(out), { legacy: true, includeUsage });
    expect(reading.problems).toEqual([]);
    expect(reading.ended).toBe(true);
    expect(reading.answer.choices.map(({ index, content }) => [index, content])).toEqual([
      [0, "A"],
      [1, "B"],
      [2, "C"],
    ]);
    expect(reading.answer.id).toBe("one");
    if (includeUsage)
      expect(reading.answer.usage).toEqual({ prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 });
  });

  it("with n choices each", () => {
    const forms = textSeries({ prompts: 2, copies: 1, n: 2, includeUsage: false }, identity());
    const two = wire(
      { ...HEAD, choices: [{ index: 1, text: "b", finish_reason: "stop" }] },
      { ...HEAD, choices: [{ index: 0, text: "a", finish_reason: "length" }] },
      "[DONE]",
    );
    const out = forms.map((form) => streamed(form.stream(identity()), [Buffer.from(two)])).join("");
    const reading = readStream(Buffer.from(out), { legacy: true });
    expect(reading.problems).toEqual([]);
    expect(reading.answer.choices.map(({ index, content, finish_reason }) => [index, content, finish_reason])).toEqual([
      [0, "a", "length"],
      [1, "b", "stop"],
      [2, "a", "length"],
      [3, "b", "stop"],
    ]);
  });

  it("as one JSON answer; a usage that one of them left out is not made up", () => {
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      completion_tokens_details: { reasoning_tokens: 1 },
    };
    const two = { prompts: 2, copies: 1, n: 1, includeUsage: false };
    const joined = joinedText([whole("A", usage).body, whole("B", usage).body], two);
    expect(joined).toMatchObject({
      id: "w",
      choices: [
        { index: 0, text: "A" },
        { index: 1, text: "B" },
      ],
      usage: {
        prompt_tokens: 2,
        completion_tokens: 4,
        total_tokens: 6,
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
    expect(joinedText([whole("A", usage).body, whole("B").body], two)).not.toHaveProperty("usage");
  });

  it("a prompt that had to be sent for each of its choices counts once", () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 2,
      total_tokens: 7,
      prompt_tokens_details: { cached_tokens: 1 },
    };
    const bodies = ["A", "a", "B", "b"].map((text) => whole(text, usage).body);
    const joined = joinedText(bodies, { prompts: 2, copies: 2, n: 1, includeUsage: false });
    expect(joined).toMatchObject({ choices: [{ text: "A" }, { text: "a" }, { text: "B" }, { text: "b" }] });
    expect(joined["usage"]).toEqual({
      prompt_tokens: 10,
      completion_tokens: 8,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 2 },
    });
  });
});
