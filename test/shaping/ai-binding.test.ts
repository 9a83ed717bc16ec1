import { describe, expect, it } from "vitest";
import { fetchOfAi, isAiBinding, type AiBinding } from "../../src/http/ai-binding.ts";

const url = "https://binding.invalid/v1/chat/completions";
const body = { model: "@cf/meta/llama", messages: [{ role: "user", content: "x" }], stream: false };
const events = (...data: (object | string)[]): string =>
  data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");

async function answer(result: unknown, path = url): Promise<{ status: number; text: string; ran: unknown[] }> {
  const ran: unknown[] = [];
  const ai: AiBinding = {
    run: async (...args) => {
      ran.push(...args);
      if (result instanceof Error) throw result;
      return result;
    },
  };
  const response = await fetchOfAi(ai)(path, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, text: await response.text(), ran };
}
const stream = (text: string): Response => new Response(text, { headers: { "content-type": "text/event-stream" } });
const chunks = (text: string): unknown[] =>
  text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => (block === "data: [DONE]" ? "[DONE]" : JSON.parse(block.slice(6))));

describe("an AI binding", () => {
  it("runs the model by its name, with the other members", async () => {
    const { model, ...inputs } = body;
    expect((await answer(Response.json({ response: "hi" }))).ran).toEqual([model, inputs, { returnRawResponse: true }]);
  });
  it("says a whole answer as OpenAI does", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const { text } = await answer(Response.json({ response: "hi", tool_calls: [], usage }));
    expect(JSON.parse(text)).toEqual({
      usage,
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    });
  });
  it("calls as well", async () => {
    const { text } = await answer({ response: null, tool_calls: [{ name: "f", arguments: { a: 1 } }] });
    expect(JSON.parse(text)).toEqual({
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ type: "function", function: { name: "f", arguments: { a: 1 } } }],
          },
          finish_reason: "tool_calls",
        },
      ],
    });
  });
  it("JSON that was asked for is text", async () => {
    expect(JSON.parse((await answer({ response: { a: 1 } })).text)).toMatchObject({
      choices: [{ message: { content: '{"a":1}' } }],
    });
  });
  it("leaves an answer of OpenAI's form alone", async () => {
    const whole = {
      id: "x",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    };
    expect(JSON.parse((await answer(Response.json(whole))).text)).toEqual(whole);
    const chunk = { id: "x", choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }] };
    expect((await answer(stream(events(chunk, "[DONE]")))).text).toBe(events(chunk, "[DONE]"));
  });
  it("says a stream as OpenAI does", async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const { text } = await answer(
      stream(events({ response: "a", p: "xyz" }, { response: "b" }, { response: "", usage }, "[DONE]")),
    );
    expect(chunks(text)).toEqual([
      { choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: "b" }, finish_reason: null }] },
      { usage, choices: [{ index: 0, delta: { content: "" }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      "[DONE]",
    ]);
  });
  it("calls in a stream are counted on", async () => {
    const { text } = await answer(
      stream(
        events(
          { tool_calls: [{ name: "f", arguments: {} }] },
          { tool_calls: [{ name: "g", arguments: {} }] },
          "[DONE]",
        ),
      ),
    );
    expect(chunks(text)).toMatchObject([
      { choices: [{ delta: { tool_calls: [{ index: 0 }] } }] },
      { choices: [{ delta: { tool_calls: [{ index: 1 }] } }] },
      { choices: [{ finish_reason: "tool_calls" }] },
      "[DONE]",
    ]);
  });
  it("a cut stream stays cut", async () =>
    expect(chunks((await answer(stream(events({ response: "a" })))).text)).toHaveLength(1));
  it("embeddings pass", async () =>
    expect(
      JSON.parse((await answer({ data: [[1]], shape: [1, 1] }, "https://binding.invalid/v1/embeddings")).text),
    ).toEqual({ data: [[1]], shape: [1, 1] }));
  it("an error is one", async () =>
    expect(await answer(new Error("5007: No such model"))).toMatchObject({
      status: 502,
      text: '{"error":{"message":"5007: No such model"}}',
    }));
});

describe("what is one", () => {
  class Ai {
    run = (): void => undefined;
    fetch = (): void => undefined;
  }
  class Fetcher {
    run = (): void => undefined;
    fetch = (): void => undefined;
  }
  it.each<[string, unknown, boolean]>([
    ["an object that runs", { run: () => undefined }, true],
    ["the runtime's own", new Ai(), true],
    ["a service, which seems to have every method", new Fetcher(), false],
    ["a service", { fetch: () => undefined }, false],
    ["a text", "AI", false],
    ["nothing", undefined, false],
  ])("%s", (_name, value, expected) => expect(isAiBinding(value)).toBe(expected));
});
