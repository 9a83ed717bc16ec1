import { describe, expect, test } from "vitest";
import { ask, gist, modes, refusal, type Way } from "../ask.ts";
import { lastHeaders, viaGateway } from "../client.ts";
import { letters, say, token, verbatim, weather, type Body } from "../say.ts";
import { oslo, osloCall, scenarios, told } from "../scenarios.ts";

const ways: readonly Way[] = [
  { model: "templated", mode: "whole" },
  { model: "templated", mode: "streamed" },
  { model: "templated-reframed", mode: "streamed" },
  { model: "templated-aggregated", mode: "whole" },
];
const forcedWeather = { type: "function" as const, function: { name: "get_weather" } };

describe.runIf(viaGateway)("a chat rendered by the gateway, answered by /v1/completions", () => {
  describe.each(ways)("$model, $mode", (way) => {
    test.each(scenarios)("$name", async ({ body, says }) => {
      expect(gist(await ask(way, body)).map(told)).toEqual([told(says)]);
    });

    test("the answer is one of a chat", async () => {
      const { completion } = await ask(way, say("Hello, world. This is longer than sixteen."));
      expect(completion).toMatchObject({ object: "chat.completion", model: "tiny" });
      expect(completion.choices[0]).toMatchObject({
        message: { role: "assistant", content: "Hello, world. This is longer than sixteen." },
        finish_reason: "stop",
      });
      expect(completion.usage).toMatchObject({ completion_tokens: 43 });
      expect(lastHeaders().get("x-sluice-changed")).toMatch(/messages->prompt.*\+max_tokens/);
    });

    test("greedy: the prompt, and with it the answer, is that of the server's own template", async () => {
      const messages = [
        { role: "system" as const, content: "be short" },
        { role: "user" as const, content: "hi 日本 🙂" },
        { role: "assistant" as const, content: "Hello" },
        { role: "user" as const, content: [{ type: "text" as const, text: "again" }] },
      ];
      const body: Body = { ...letters(40), temperature: 0, messages };
      const ours = await ask(way, body);
      const theirs = await ask({ model: "plain", mode: "whole" }, body);
      expect(gist(ours)).toEqual(gist(theirs));
      const { prompt_tokens, completion_tokens, total_tokens } = theirs.completion.usage ?? {};
      expect(ours.completion.usage).toMatchObject({ prompt_tokens, completion_tokens, total_tokens });
    });

    test("two choices", async () => {
      const answer = await ask(way, { ...letters(5), n: 2, seed: 7 });
      expect(answer.completion.choices.map(({ index }) => index)).toEqual([0, 1]);
      for (const choice of gist(answer))
        expect(choice).toMatchObject({ content: expect.stringMatching(/^[a-z]{5}$/), finish: "length" });
      expect(answer.completion.usage?.completion_tokens).toBe(10);
    });

    test("two choices with thoughts and calls", async () => {
      const answer = await ask(way, { ...verbatim(`<think>hm</think>${osloCall}`), tools: [weather], n: 2 });
      const says = { content: "", reasoning: "hm", calls: [{ name: "get_weather", arguments: oslo }] };
      expect(gist(answer)).toEqual([1, 2].map(() => ({ ...says, finish: "tool_calls" })));
    });

    test("logprobs with alternatives", async () => {
      const { completion } = await ask(way, { ...say("Hi you"), logprobs: true, top_logprobs: 2 });
      const content = completion.choices[0]?.logprobs?.content ?? [];
      expect(content.map((entry) => entry.token).join("")).toContain("Hi you");
      for (const entry of content) {
        expect(entry).toMatchObject({ token: expect.any(String), logprob: expect.any(Number) });
        expect(entry.bytes === null || Buffer.from(entry.bytes).toString() === entry.token).toBe(true);
        expect(entry.top_logprobs).toHaveLength(2);
      }
    });

    test("logprobs alone", async () => {
      const { completion } = await ask(way, { ...say("Hi"), logprobs: true });
      expect(completion.choices[0]?.logprobs?.content?.map(({ top_logprobs }) => top_logprobs)).toEqual([[], [], []]);
    });

    test("a stop word of the client's, and which one it was", async () => {
      const answer = await ask(way, { ...say("one two three"), stop: ["two"] });
      expect(gist(answer)).toMatchObject([{ content: "one ", finish: "stop" }]);
      expect(answer.completion.choices[0]).toMatchObject({ stop_reason: "two" });
    });

    test("an empty answer", async () => {
      expect(gist(await ask(way, { logit_bias: { [token.end]: 100 } }))).toEqual([
        { content: "", reasoning: "", calls: [], finish: "stop" },
      ]);
    });

    test("json_schema", async () => {
      const schema = {
        type: "object",
        properties: { ok: { type: "boolean" } },
        required: ["ok"],
        additionalProperties: false,
      };
      const response_format = { type: "json_schema" as const, json_schema: { name: "a", strict: true, schema } };
      const [choice] = gist(await ask(way, { response_format, max_tokens: 1_500, seed: 5 }));
      expect(JSON.parse(choice?.content ?? "")).toEqual({ ok: expect.any(Boolean) });
    });

    test("named: the arguments alone are a call of it", async () => {
      const body = { ...say(oslo), tools: [weather], tool_choice: forcedWeather };
      expect(gist(await ask(way, body))).toMatchObject([
        { content: "", calls: [{ name: "get_weather", arguments: oslo }], finish: "stop" },
      ]);
    });

    test("a last message that is gone on with", async () => {
      const messages = [
        { role: "user" as const, content: "hi" },
        { role: "assistant" as const, content: "Hello, wo" },
      ];
      const body = { ...say("rld."), messages, continue_final_message: true, add_generation_prompt: false };
      expect(gist(await ask(way, body))).toMatchObject([{ content: "rld.", finish: "stop" }]);
    });
  });

  test.each(modes)("a thought that the template has opened: %s", async (mode) => {
    const way = { model: "templated-opened", mode };
    expect(gist(await ask(way, verbatim("hm\n</think>\n\nHi")))).toEqual([
      { content: "\n\nHi", reasoning: "hm\n", calls: [], finish: "stop" },
    ]);
    expect(gist(await ask(way, { ...verbatim("hmmmm"), max_tokens: 3 }))).toEqual([
      { content: "", reasoning: "hmm", calls: [], finish: "length" },
    ]);
    expect(gist(await ask(way, say("Hi")))).toMatchObject([{ content: "Hi", reasoning: "" }]);
  });

  test("a history of calls and results is rendered", async () => {
    const messages = [
      { role: "user" as const, content: "weather?" },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: [{ id: "call_1", type: "function" as const, function: { name: "get_weather", arguments: oslo } }],
      },
      { role: "tool" as const, tool_call_id: "call_1", content: "sunny" },
    ];
    for (const mode of modes)
      expect(
        gist(await ask({ model: "templated", mode }, { ...say("Fine."), tools: [weather], messages })),
      ).toMatchObject([{ content: "Fine." }]);
  });

  test("without a bound of the client's, the answer may fill the context", async () => {
    const { max_tokens: _, ...body } = letters(1);
    const messages = [{ role: "user" as const, content: "x".repeat(1_700) }];
    const { completion } = await ask({ model: "templated", mode: "streamed" }, { ...body, messages });
    expect(completion.choices[0]?.finish_reason).toBe("length");
    expect(completion.usage?.total_tokens).toBe(2_048);
  });

  describe.each(modes)("refused: %s", (mode) => {
    test("an image, by its place", async () => {
      const image_url = { url: "data:image/png;base64,AAAA" };
      const messages = [
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "image_url", image_url },
          ],
        },
      ];
      const error = await refusal("templated", mode, { messages });
      expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
      expect(error.param).toMatch(/^messages\[0\]\.content/);
    });

    test("a prompt longer than the context", async () => {
      const error = await refusal("templated", mode, { messages: [{ role: "user", content: "x".repeat(2_100) }] });
      expect(error).toMatchObject({ status: 400, type: "invalid_request_error", code: "context_length_exceeded" });
    });

    test("what vLLM finds after its 200", async () => {
      const error = await refusal("templated", mode, { structured_outputs: { grammar: "root ::= (" } });
      expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    });
  });

  test("a failure in the middle: the text so far, one error event, no [DONE]", async () => {
    const body = { ...say("one two three"), stop_token_ids: [token.blank] };
    await expect(ask({ model: "templated", mode: "streamed" }, body)).rejects.toMatchObject({
      code: expect.stringMatching(/^upstream_/),
    });
    expect((await refusal("templated", "whole", body)).status).toBeGreaterThanOrEqual(500);
  });
});
