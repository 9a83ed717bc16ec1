import type { Completion } from "openai/resources/completions";
import { describe, expect, test } from "vitest";
import { modes, ways, type Way } from "../ask.ts";
import { askText, told, type TextAnswer, type TextBody } from "../ask-text.ts";
import { askPath, newClient, ownAnswer, viaGateway } from "../client.ts";
import { token, verbatim } from "../say.ts";

const lowerCase = Array.from({ length: 26 }, (_, i) => 64 + i);
// Greedy, so that the server says the same when it is asked again, in a batch or not.
const letters = { allowed_token_ids: lowerCase, max_tokens: 6, temperature: 0 };
const hello = verbatim("Hello, world. 日本 🙂");

const requests: readonly (readonly [string, TextBody])[] = [
  ["a text", { prompt: "hi", ...letters }],
  ["exact words", { prompt: "hi", ...hello, max_tokens: 60 }],
  ["a list of texts", { prompt: ["hi", "you", "日本"], ...letters }],
  ["token ids", { prompt: [71, 72], ...letters }],
  ["lists of token ids", { prompt: [[71, 72], [73]], ...letters }],
  ["logprobs", { prompt: "hi", logprobs: 2, ...letters }],
  ["logprobs of the chosen token alone", { prompt: "hi", logprobs: 0, ...letters }],
  ["logprobs of two texts", { prompt: ["hi", "you"], logprobs: 1, ...letters }],
  ["echo", { prompt: "hi", echo: true, ...letters }],
  ["echo with logprobs", { prompt: "hi", echo: true, logprobs: 1, ...letters }],
  ["echo of a list", { prompt: ["hi", "you"], echo: true, ...letters }],
  ["a stop word", { prompt: "hi", ...verbatim("one two three"), stop: ["two"], max_tokens: 60 }],
  ["an empty answer", { prompt: "hi", logit_bias: { [token.end]: 100 }, max_tokens: 5 }],
  ["a text longer than the 16 tokens that are the default", { prompt: "hi", ...verbatim("x".repeat(30)) }],
];

async function own(body: TextBody): Promise<TextAnswer> {
  const response = await ownAnswer("parsers", "/v1/completions", { model: "tiny", ...body });
  expect(response.status).toBe(200);
  return told([(await response.json()) as Completion], []);
}

/** A sum of floats in another order is another float. */
function expectSame(got: TextAnswer, wanted: TextAnswer): void {
  expect(got.choices.map(({ text, finish }) => ({ text, finish }))).toEqual(
    wanted.choices.map(({ text, finish }) => ({ text, finish })),
  );
  const { prompt_tokens, completion_tokens, total_tokens } = wanted.usage ?? {};
  expect(got.usage).toMatchObject({ prompt_tokens, completion_tokens, total_tokens });
  for (const [i, choice] of wanted.choices.entries()) {
    const ours = got.choices[i];
    expect(ours?.tokens).toEqual(choice.tokens);
    expect(ours?.offsets).toEqual(choice.offsets);
    expect(ours?.logprobs).toHaveLength(choice.logprobs.length);
    for (const [j, logprob] of choice.logprobs.entries()) {
      if (logprob === null) expect(ours?.logprobs[j]).toBeNull();
      else expect(ours?.logprobs[j]).toBeCloseTo(logprob, 1);
    }
    expect(ours?.alternatives.map((map) => map && Object.keys(map).length)).toEqual(
      choice.alternatives.map((map) => map && Object.keys(map).length),
    );
  }
}

const inTurn: readonly Way[] = viaGateway ? modes.map((mode) => ({ model: "one-by-one", mode })) : [];

describe.each([...ways, ...inTurn])("/v1/completions: $model, $mode", (way) => {
  test.each(requests)("%s: what the server itself says", async (_, body) => {
    expectSame(await askText(way, body), await own(body));
  });

  test("n 2: a choice is numbered by its prompt and its turn", async () => {
    const { temperature: _, ...body } = letters;
    const { choices, usage } = await askText(way, { prompt: ["hi", "you"], n: 2, seed: 7, ...body });
    expect(choices).toHaveLength(4);
    for (const choice of choices)
      expect(choice).toMatchObject({ text: expect.stringMatching(/^[a-z]{6}$/), finish: "length" });
    expect(usage).toMatchObject({ completion_tokens: 24 });
  });

  test("n 2 with echo: each choice has the prompt that it belongs to", async () => {
    const { temperature: _, ...body } = letters;
    const { choices } = await askText(way, { prompt: ["hi", "you"], n: 2, seed: 7, echo: true, ...body });
    expect(choices.map(({ text }) => text.slice(0, -6))).toEqual(["hi", "hi", "you", "you"]);
  });
});

describe.each(modes)("/v1/completions: %s", (mode) => {
  test("echo and no new token: the prompt is scored", async () => {
    const body = { prompt: "hi", echo: true, logprobs: 1, max_tokens: 0 };
    const { choices } = await askText({ model: "tiny", mode }, body);
    expect(choices).toMatchObject([{ text: "hi", finish: "length", tokens: ["h", "i"] }]);
    expect(choices[0]?.logprobs).toEqual([null, expect.any(Number)]);
  });

  test.runIf(viaGateway).each([
    ["suffix", { suffix: "end" }],
    ["best_of", { best_of: 3 }],
  ])("%s, which vLLM refuses or ignores, is refused by name", async (param, body) => {
    const stream = mode === "streamed";
    const response = await askPath("parsers", "/v1/completions", { model: "tiny", prompt: "hi", stream, ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test.each([
    ["no prompt", {}],
    ["an empty prompt", { prompt: [] }],
    ["a prompt longer than the context", { prompt: "x".repeat(2_100) }],
    ["a temperature below zero", { prompt: "hi", temperature: -1 }],
    ["a token outside the vocabulary, found after the 200", { prompt: "hi", allowed_token_ids: [token.outside] }],
  ])("refused: %s", async (_, body) => {
    const stream = mode === "streamed";
    const response = await askPath("parsers", "/v1/completions", { model: "tiny", stream, ...body });
    if (viaGateway || !stream) expect(response.status).toBe(400);
    if (viaGateway) expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  });
});

test.runIf(viaGateway)("a route may report the name that was asked for", async () => {
  const body = { model: "requested-name", prompt: "hi", max_tokens: 2 };
  const completion = await newClient().completions.create(body);
  expect(completion.model).toBe("requested-name");
  for await (const { model } of await newClient().completions.create({ ...body, stream: true }))
    expect(model).toBe("requested-name");
  const chat = await newClient().chat.completions.create({
    model: "requested-name",
    messages: [{ role: "user", content: "hi" }],
    max_tokens: 2,
  });
  expect(chat.model).toBe("requested-name");
});
