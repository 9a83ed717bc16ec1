import { describe, expect, it } from "vitest";
import { createUsageAccount, isWholeUsage, wholeUsage } from "../../../src/protocol/chat/usage.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { choiceChunk, ROLE, streamOf, usageChunk } from "./streamed.ts";

const counts = (prompt: unknown, completion: unknown, total: unknown, more: JsonObject = {}): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  ...more,
});

describe("createUsageAccount", () => {
  const total = (...usages: readonly (readonly [JsonObject, boolean, number, number])[]): JsonObject | undefined => {
    const account = createUsageAccount();
    for (const usage of usages) account.add(...usage);
    return account.total();
  };
  it("is undefined without any usage", () => expect(total()).toBe(undefined));
  it("cumulative: the last one wins", () => {
    expect(
      total(
        [counts(3, 0, 3), false, 0, 1],
        [counts(3, 1, 4), false, 0, 1],
        [counts(3, 2, 5), false, 1, 1],
        [counts(3, 2, 5), true, 1, 1],
      ),
    ).toEqual(counts(3, 2, 5));
  });
  it("repeated after the end: the last one wins, also with several choices", () => {
    expect(total([counts(3, 8, 11), true, 2, 2], [counts(3, 8, 11), true, 2, 2])).toEqual(counts(3, 8, 11));
  });
  it("one choice-less chunk per choice before all have ended (llama.cpp): completions add up, the prompt is one", () => {
    expect(total([counts(5, 4, 9), true, 1, 2], [counts(5, 6, 11), true, 2, 2])).toEqual(counts(5, 10, 15));
    expect(total([counts(5, 4, 9), true, 1, 3], [counts(5, 6, 11), true, 2, 3], [counts(5, 1, 6), true, 3, 3])).toEqual(
      counts(5, 11, 16),
    );
  });
  it("details add up as well", () => {
    const details = (n: number): JsonObject => ({ completion_tokens_details: { reasoning_tokens: n } });
    expect(total([counts(5, 4, 9, details(1)), true, 1, 2], [counts(5, 6, 11, details(2)), true, 2, 2])).toEqual(
      counts(5, 10, 15, details(3)),
    );
  });
  it("a running total that comes without choices before any finish is cumulative", () => {
    expect(total([counts(5, 1, 6), true, 0, 1], [counts(5, 2, 7), true, 0, 1], [counts(5, 3, 8), true, 1, 1])).toEqual(
      counts(5, 3, 8),
    );
  });
});

describe("wholeUsage", () => {
  it.each<[string, JsonObject | undefined, JsonObject | undefined]>([
    ["nothing", undefined, undefined],
    ["whole", counts(1, 2, 3, { x: 1 }), counts(1, 2, 3, { x: 1 })],
    ["strings", counts("1", "2", "3"), counts(1, 2, 3)],
    ["no total", { prompt_tokens: 1, completion_tokens: 2 }, counts(1, 2, 3)],
    ["total null", counts(1, 2, null), counts(1, 2, 3)],
    ["no completion", { prompt_tokens: 1, total_tokens: 3 }, counts(1, 2, 3)],
    ["no prompt", { completion_tokens: 2, total_tokens: 3 }, counts(1, 2, 3)],
    ["only a total", { total_tokens: 3 }, undefined],
    ["empty", {}, undefined],
    ["a total smaller than its part", { prompt_tokens: 5, total_tokens: 3 }, undefined],
    ["fractions", counts(1.5, 2, 3.5), undefined],
  ])("%s", (_name, usage, expected) => expect(wholeUsage(usage)).toEqual(expected));

  it("is whole with three integers only", () => {
    expect(isWholeUsage(counts(1, 2, 3))).toBe(true);
    for (const usage of [counts("1", 2, 3), counts(1, 2, null), counts(1.5, 2, 3), {}])
      expect(isWholeUsage(usage)).toBe(false);
  });
});

describe("on the wire", () => {
  const usageOf = (events: readonly unknown[], n: number): unknown =>
    streamOf([...events, "[DONE]"], { shape: { n, includeUsage: true } })
      .chunks.filter(({ choices }) => (choices as unknown[]).length === 0)
      .map(({ usage }) => usage);
  const text = (index: number): unknown => choiceChunk(index, { content: "x" });
  const end = (index: number): unknown => choiceChunk(index, {}, "stop");

  it("llama.cpp with n = 2: one usage chunk, added up", () => {
    expect(
      usageOf(
        [
          choiceChunk(1, ROLE),
          choiceChunk(0, ROLE),
          text(0),
          text(1),
          end(1),
          usageChunk(counts(5, 4, 9)),
          text(0),
          end(0),
          usageChunk(counts(5, 6, 11)),
        ],
        2,
      ),
    ).toEqual([counts(5, 10, 15)]);
  });
  it("llama.cpp with n = 2, the second choice begins after the first has ended", () => {
    expect(
      usageOf(
        [
          choiceChunk(0, ROLE),
          text(0),
          end(0),
          usageChunk(counts(5, 4, 9)),
          choiceChunk(1, ROLE),
          text(1),
          end(1),
          usageChunk(counts(5, 6, 11)),
        ],
        2,
      ),
    ).toEqual([counts(5, 10, 15)]);
  });
  it("vLLM with n = 2: cumulative", () => {
    expect(
      usageOf(
        [choiceChunk(0, ROLE), choiceChunk(1, ROLE), text(0), text(1), end(0), end(1), usageChunk(counts(5, 10, 15))],
        2,
      ),
    ).toEqual([counts(5, 10, 15)]);
  });
  it("continuous usage on every chunk with n = 2: cumulative", () => {
    const on = (event: unknown, usage: unknown): unknown => ({ ...(event as object), usage });
    expect(
      usageOf(
        [
          on(choiceChunk(0, ROLE), counts(5, 0, 5)),
          on(choiceChunk(1, ROLE), counts(5, 0, 5)),
          on(end(0), counts(5, 1, 6)),
          on(text(1), counts(5, 2, 7)),
          on(end(1), counts(5, 3, 8)),
          usageChunk(counts(5, 4, 9)),
        ],
        2,
      ),
    ).toEqual([counts(5, 4, 9)]);
  });
  it("strings become numbers, a useless usage no chunk", () => {
    expect(usageOf([choiceChunk(0, ROLE), text(0), end(0), usageChunk(counts("5", "4", "9"))], 1)).toEqual([
      counts(5, 4, 9),
    ]);
    expect(usageOf([choiceChunk(0, ROLE), text(0), end(0), usageChunk({ total_time: 1 })], 1)).toEqual([]);
  });
});
