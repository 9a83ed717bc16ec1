import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localModels } from "./upstream-models.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startUpstream();
  client = new OpenAI({ baseURL: upstream.baseUrl, apiKey: "none", maxRetries: 0 });
});
afterAll(() => upstream.stop());

const messages = [{ role: "user" as const, content: "one two three four" }];
const tools = ["first", "second"].map((name) => ({
  type: "function" as const,
  function: {
    name,
    parameters: { type: "object", properties: { city: { type: "string" }, unit: { enum: ["C", "F"] } } },
  },
}));

test("lists its models", async () => {
  const listed = (await client.models.list()).data.map(({ id }) => id);
  expect(listed).toEqual(localModels.map(({ id }) => id));
  await expect(client.models.retrieve("local/other")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
});

test("echoes whole and streamed, with choices, logprobs, limits and usage", async () => {
  const model = "local/echo";
  const whole = await client.chat.completions.create({ model, messages, n: 2, logprobs: true, top_logprobs: 1 });
  expect(whole.choices.map(({ message }) => message.content)).toEqual(["one two three four", "one two three four"]);
  expect(whole.usage).toEqual({ prompt_tokens: 4, completion_tokens: 8, total_tokens: 12 });
  expect(whole.choices[0]?.logprobs?.content?.map(({ token }) => token).join("")).toBe("one two three four");

  const short = await client.chat.completions.create({ model, messages, max_tokens: 2 });
  expect(short.choices[0]).toMatchObject({ message: { content: "one two " }, finish_reason: "length" });
  const stopped = await client.chat.completions.create({ model, messages, stop: ["three"] });
  expect(stopped.choices[0]).toMatchObject({ message: { content: "one two " }, finish_reason: "stop" });

  const stream = client.chat.completions.stream({ model, messages, n: 2, stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  expect(final.choices.map(({ message }) => message.content)).toEqual(["one two three four", "one two three four"]);
  expect(final.usage?.total_tokens).toBe(12);
});

test("calls tools with arguments made from their schemas", async () => {
  const model = "local/tools";
  const expected = ["first", "second"].map((name) => ({
    function: { name, arguments: '{"city":"text","unit":"C"}' },
  }));
  const whole = await client.chat.completions.create({ model, messages, tools });
  expect(whole.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: expected } });
  const streamed = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion();
  expect(streamed.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: expected } });
});

test("refuses as its models' names say", async () => {
  const ask = (model: string, stream: boolean): Promise<unknown> =>
    client.chat.completions.create({ model, messages, stream });
  await expect(ask("local/no-stream", true)).rejects.toMatchObject({ status: 400, param: "stream" });
  await expect(ask("local/only-stream", false)).rejects.toMatchObject({ status: 400 });
  await expect(ask("local/error", true)).rejects.toMatchObject({ status: 400, code: "refused" });
  await expect(ask("local/overloaded", false)).rejects.toMatchObject({ status: 429 });
  await expect(ask("local/other", false)).rejects.toMatchObject({ status: 404 });
  await expect(ask("local/late-error", false)).rejects.toMatchObject({ status: 500 });
});

async function streamed(model: string): Promise<{ text: string; error: unknown }> {
  let text = "";
  try {
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
  } catch (error) {
    return { text, error };
  }
  return { text, error: undefined };
}

test("breaks in mid-answer", async () => {
  expect(await streamed("local/cut")).toMatchObject({ text: "one two ", error: expect.any(Error) });
  expect(await streamed("local/late-error")).toMatchObject({ text: "one two ", error: { code: "engine_failed" } });
});

test("a stall ends when the client leaves", async () => {
  const stream = await client.chat.completions.create({ model: "local/stall", messages, stream: true });
  let text = "";
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    if (text === "one two ") break;
  }
  await expect.poll(() => upstream.open).toBe(0);
});
