import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../../src/upstream/provider.ts";
import { anthropic } from "../../../src/upstream/providers/anthropic.ts";
import { mistral } from "../../../src/upstream/providers/mistral.ts";
import { vllm } from "../../../src/upstream/providers/vllm.ts";
import { COMPLETION_RULES } from "../../../src/upstream/shaping/shape.ts";
import { invalid, shaped, unsupported } from "./shaping.ts";

type Members = Record<string, unknown>;
type Can = Partial<Capabilities>;

describe("max-tokens", () => {
  it.each<[string, Members, Can, unknown]>([
    [
      "to the newer name",
      { max_tokens: 5 },
      { max_tokens: "max_completion_tokens" },
      { max_completion_tokens: 5, changed: "max_tokens->max_completion_tokens" },
    ],
    [
      "to the older name",
      { max_completion_tokens: 5 },
      { max_tokens: "max_tokens" },
      { max_tokens: 5, changed: "max_completion_tokens->max_tokens" },
    ],
    ["as it is", { max_tokens: 5 }, {}, { max_tokens: 5, changed: "" }],
    [
      "both: the newer one counts",
      { max_tokens: 5, max_completion_tokens: 6 },
      {},
      { max_completion_tokens: 6, changed: "-max_tokens" },
    ],
    [
      "both, for the newer name",
      { max_tokens: 5, max_completion_tokens: 6 },
      { max_tokens: "max_completion_tokens" },
      { max_completion_tokens: 6, changed: "-max_tokens" },
    ],
    [
      "both, for the older name",
      { max_tokens: 5, max_completion_tokens: 6 },
      { max_tokens: "max_tokens" },
      { max_tokens: 6, changed: "max_completion_tokens->max_tokens" },
    ],
    ["0 is no bound of a chat", { max_tokens: 0 }, {}, invalid("max_tokens")],
    ["0 under the other name", { max_completion_tokens: 0 }, {}, invalid("max_completion_tokens")],
  ])("%s", (_name, members, can, expected) => expect(shaped(members, { can })).toEqual(expected));

  it("0 is one of legacy completions", () =>
    expect(shaped({ max_tokens: 0, echo: true }, { rules: COMPLETION_RULES })).toEqual({
      max_tokens: 0,
      echo: true,
      changed: "",
    }));
});

describe("greedy", () => {
  it.each<[string, Members, Can, unknown]>([
    [
      "temperature 0 goes alone",
      { temperature: 0, top_p: 0.5, top_k: 3, seed: 1 },
      {},
      { temperature: 0, seed: 1, changed: "-top_p, -top_k" },
    ],
    ["as it is", { temperature: 0 }, {}, { temperature: 0, changed: "" }],
    ["another temperature", { temperature: 0.1, top_p: 0.5 }, {}, { temperature: 0.1, top_p: 0.5, changed: "" }],
    [
      "by the one best token",
      { temperature: 0, top_k: 5 },
      { greedy: "top_k_1" },
      { top_k: 1, changed: "-top_k, temperature->top_k" },
    ],
    [
      "by not sampling",
      { temperature: 0 },
      { greedy: "do_sample" },
      { do_sample: false, changed: "temperature->do_sample" },
    ],
  ])("%s", (_name, members, can, expected) => expect(shaped(members, { can })).toEqual(expected));
  it("a range without the 0 does not refuse what has left", () =>
    expect(shaped({ temperature: 0 }, { can: { greedy: "top_k_1", ranges: { temperature: { above: 0 } } } })).toEqual({
      top_k: 1,
      changed: "temperature->top_k",
    }));
});

describe("top-k-off", () => {
  it.each<[number, Can["top_k_off"] & string, unknown]>([
    [0, "-1", { top_k: -1, changed: "~top_k" }],
    [-1, "-1", { top_k: -1, changed: "" }],
    [-1, "0", { top_k: 0, changed: "~top_k" }],
    [0, "omit", { changed: "-top_k" }],
    [-1, "any", { top_k: -1, changed: "" }],
    [40, "-1", { top_k: 40, changed: "" }],
  ])("%d for a server of %s", (top_k, top_k_off, expected) =>
    expect(shaped({ top_k }, { can: { top_k_off } })).toEqual(expected),
  );
});

describe("repetition-penalty and seed", () => {
  it.each<[string, Members, Can, unknown]>([
    [
      "one name",
      { repetition_penalty: 1.1 },
      { repetition_penalty: "repeat_penalty" },
      { repeat_penalty: 1.1, changed: "repetition_penalty->repeat_penalty" },
    ],
    [
      "the other",
      { repeat_penalty: 1.1 },
      { repetition_penalty: "repetition_penalty" },
      { repetition_penalty: 1.1, changed: "repeat_penalty->repetition_penalty" },
    ],
    [
      "both",
      { repeat_penalty: 1.1, repetition_penalty: 1.2 },
      { repetition_penalty: "repetition_penalty" },
      { repetition_penalty: 1.2, changed: "-repeat_penalty" },
    ],
    ["any", { repeat_penalty: 1.1 }, {}, { repeat_penalty: 1.1, changed: "" }],
    ["a seed by another name", { seed: 7 }, { seed: "random_seed" }, { random_seed: 7, changed: "seed->random_seed" }],
  ])("%s", (_name, members, can, expected) => expect(shaped(members, { can })).toEqual(expected));
});

describe("sampling-ranges", () => {
  it.each<[string, Members, unknown]>([
    ["too much", { temperature: 1.2 }, invalid("temperature")],
    ["too little", { temperature: -0.1 }, invalid("temperature")],
    ["the ends belong to it", { temperature: 1, top_p: 0 }, { temperature: 1, top_p: 0, changed: "" }],
    ["a text is for the upstream to refuse", { temperature: "2" }, { temperature: "2", changed: "" }],
    ["what has no range", { min_p: 5 }, { min_p: 5, changed: "" }],
  ])("%s", (_name, members, expected) => expect(shaped(members, { provider: anthropic })).toEqual(expected));

  it("an end that does not belong to it", () =>
    expect(shaped({ top_p: 0 }, { provider: vllm })).toEqual(invalid("top_p")));
  it("by the name that the client used", () =>
    expect(shaped({ repeat_penalty: 0 }, { provider: vllm })).toEqual(invalid("repeat_penalty")));
  it("by provider", () => {
    expect(shaped({ temperature: 1.6 }, { provider: mistral })).toEqual(invalid("temperature"));
    expect(shaped({ temperature: 1.6, cache_salt: "x" }, { provider: vllm, can: { cache_salt: false } })).toEqual({
      temperature: 1.6,
      cache_salt: "x",
      changed: "",
    });
  });
});

describe("many-choices", () => {
  it.each<[string, Members, Can, unknown]>([
    ["asked for one by one", { n: 3 }, { n: false }, { copies: 3, changed: "n->requests" }],
    ["as many as can be", { n: 8 }, { n: false }, { copies: 8, changed: "n->requests" }],
    ["more than that", { n: 9 }, { n: false }, unsupported("n")],
    ["one", { n: 1 }, { n: false }, { n: 1, changed: "" }],
    ["of a server that can", { n: 9 }, {}, { n: 9, changed: "" }],
  ])("%s", (_name, members, can, expected) => expect(shaped(members, { can })).toEqual(expected));
});
