import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readStream } from "../conformance/strict.ts";
import { errorOf, hashed, KEY, startRig, type Rig } from "../gateway/rig.ts";
import type { Script } from "../gateway/scripted-upstream.ts";
import { done, event, inChunk, lastChunk, refusal, response, streamHead } from "../gateway/wire.ts";
import { asksForStream } from "../shaping/wire.ts";
import { TOOL } from "../template/chats.ts";

let rig: Rig;
beforeAll(async () => {
  const upstream = (url: string, more: object): object => ({ base_url: url, credential: "KEY_THERE", ...more });
  const own =
    "{% if messages | length > 2 %}{{ raise_exception('Too long a chat') }}{% endif %}{{ messages[0].content }}<think>\n";
  rig = await startRig({
    secrets: { KEY_THERE: "sk-there" },
    document: (url) => ({
      upstreams: {
        llama: upstream(url, { template: "llama3" }),
        chatml: upstream(url, { template: "chatml", text: { reasoning: "think" }, capabilities: { n: false } }),
        own: upstream(url, { template: own, text: { reasoning: "think" } }),
        broken: upstream(url, { template: "{% for secret in %}" }),
        vllm: upstream(url, { template: "chatml", provider: "vllm" }),
        mute: upstream(url, { template: "chatml", text: { tools: "none" } }),
        hosted: upstream(url, { template: "chatml", provider: "anthropic" }),
      },
      routes: Object.fromEntries(
        ["llama", "chatml", "own", "broken", "vllm", "mute", "hosted"].map((name) => [
          `${name}/*`,
          { targets: [{ upstream: name }] },
        ]),
      ),
      tenants: { acme: { keys: [hashed(KEY)] } },
    }),
  });
});
afterAll(() => rig.stop());

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const head = { id: "cmpl-1", object: "text_completion", created: 1, model: "there" };
const part = (text: string, finish_reason: string | null = null, more: object = {}): object => ({
  ...head,
  choices: [{ index: 0, text, logprobs: null, finish_reason, ...more }],
});

/** A completion server that writes `texts`, each as a choice, in the form it is asked in and in small pieces. */
const writes =
  (...texts: string[]): Script =>
  async ({ asked, put }) => {
    if (!asksForStream(asked.body)) {
      const choices = texts.map((text, index) => ({ index, text, logprobs: null, finish_reason: "stop" }));
      return put(response(200, JSON.stringify({ ...head, choices, usage })));
    }
    await put(streamHead());
    for (const [index, text] of texts.entries()) {
      for (let at = 0; at < text.length; at += 3)
        await put(inChunk(event(part(text.slice(at, at + 3), null, { index }))));
      await put(inChunk(event(part("", "stop", { index }))));
    }
    return put(inChunk(event({ ...head, choices: [], usage }) + done) + lastChunk);
  };

interface Seen {
  readonly line: string;
  readonly body: Record<string, unknown>;
}
const sentTo = (model: string): Seen[] =>
  rig.upstream.asked(model).map(({ line, body }) => ({ line, body: JSON.parse(body) as Record<string, unknown> }));

const client = (): OpenAI => new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
type Ask = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;
const ask = (body: Ask): Promise<OpenAI.ChatCompletion> => client().chat.completions.create(body);
/** The same as a stream: read by the strictest client, then by the library. */
async function askStreamed(body: Ask): Promise<OpenAI.ChatCompletion> {
  const streaming = { ...body, stream: true as const, stream_options: { include_usage: true } };
  const bytes = new Uint8Array(await (await rig.ask({ ...streaming })).arrayBuffer());
  expect(readStream(bytes, { includeUsage: true }).problems).toEqual([]);
  return client()
    .chat.completions.stream(streaming as never)
    .finalChatCompletion();
}
const inBothForms = [
  ["whole", ask],
  ["streamed", askStreamed],
] as const;
const user = [{ role: "user" as const, content: "hello" }];
const tools = [TOOL] as OpenAI.ChatCompletionTool[];

describe.each(inBothForms)("%s", (_form, answerTo) => {
  test("a chat becomes a prompt, and its completion an answer", async () => {
    const model = rig.model("llama/");
    rig.upstream.answer(model, writes("Hello there<|eot_id|>"));
    const answer = await answerTo({ model, messages: user, stop: "END", temperature: 0.5, max_completion_tokens: 20 });
    expect(answer.choices[0]).toMatchObject({ message: { content: "Hello there" }, finish_reason: "stop" });
    expect(answer).toMatchObject({ object: "chat.completion", model: "there", usage });
    const [sent] = sentTo(model);
    expect(sent?.line).toBe("POST /v1/completions HTTP/1.1");
    expect(sent?.body).toMatchObject({
      model,
      temperature: 0.5,
      max_tokens: 20,
      stop: ["END", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"],
      add_special_tokens: false,
      skip_special_tokens: false,
    });
    const prompt = String(sent?.body["prompt"]);
    expect(prompt.match(/<\|begin_of_text\|>/g)).toHaveLength(1);
    expect(prompt).toMatch(
      /user<\|end_header_id\|>\n\nhello<\|eot_id\|><\|start_header_id\|>assistant<\|end_header_id\|>\n\n$/,
    );
    for (const name of ["messages", "max_completion_tokens", "echo"]) expect(sent?.body).not.toHaveProperty(name);
  });

  test("calls are read in the family of the template", async () => {
    const model = rig.model("llama/");
    rig.upstream.answer(
      model,
      writes('{"name": "weather", "parameters": {"city": "Oslo"}}; {"name": "weather", "parameters": {}}<|eom_id|>'),
    );
    const answer = await answerTo({ model, messages: user, tools });
    const [choice] = answer.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.tool_calls).toMatchObject([
      { type: "function", function: { name: "weather", arguments: '{"city": "Oslo"}' } },
      { type: "function", function: { name: "weather", arguments: "{}" } },
    ]);
    const [sent] = sentTo(model);
    expect(sent?.body["prompt"]).toContain('"name": "weather"');
    for (const name of ["tools", "tool_choice"]) expect(sent?.body).not.toHaveProperty(name);
  });

  test("so are thoughts, with several choices that are asked for one by one", async () => {
    const model = rig.model("chatml/");
    rig.upstream.answer(
      model,
      writes('<think>hm</think>So <tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'),
    );
    const answer = await answerTo({ model, messages: user, tools, n: 2 });
    expect(answer.choices).toHaveLength(2);
    for (const { message, finish_reason } of answer.choices) {
      expect(message).toMatchObject({ content: "So ", reasoning_content: "hm", reasoning: "hm" });
      expect([message.tool_calls?.length, finish_reason]).toEqual([1, "tool_calls"]);
    }
    expect(sentTo(model).every(({ body }) => body["n"] === undefined)).toBe(true);
  });

  test("several choices of one request", async () => {
    const model = rig.model("llama/");
    rig.upstream.answer(model, writes("one", "two"));
    const answer = await answerTo({ model, messages: user, n: 2 });
    expect(answer.choices.map(({ message }) => message.content)).toEqual(["one", "two"]);
    expect(sentTo(model)[0]?.body["n"]).toBe(2);
  });

  test("a thought that the template has opened", async () => {
    const model = rig.model("own/");
    rig.upstream.answer(model, writes("hm\n</think>\n\nYes"));
    const answer = await answerTo({ model, messages: user });
    expect(answer.choices[0]?.message).toMatchObject({ content: "\n\nYes", reasoning: "hm\n" });
  });

  test("logprobs go there as a number and come back as a chat has them", async () => {
    const model = rig.model("llama/");
    const logprobs = { tokens: ["Hé"], token_logprobs: [-0.5], top_logprobs: [{ Hé: -0.5, A: -1 }], text_offset: [0] };
    rig.upstream.answer(model, async ({ asked, put }) => {
      if (asksForStream(asked.body)) {
        return put(
          streamHead() +
            inChunk(event(part("Hé", "stop", { logprobs })) + event({ ...head, choices: [], usage }) + done) +
            lastChunk,
        );
      }
      return put(response(200, JSON.stringify({ ...part("Hé", "stop", { logprobs }), usage })));
    });
    const answer = await answerTo({ model, messages: user, logprobs: true, top_logprobs: 1 });
    expect(answer.choices[0]?.logprobs?.content).toEqual([
      {
        token: "Hé",
        logprob: -0.5,
        bytes: [72, 195, 169],
        top_logprobs: [{ token: "Hé", logprob: -0.5, bytes: [72, 195, 169] }],
      },
    ]);
    expect(sentTo(model)[0]?.body).toMatchObject({ logprobs: 1 });
    expect(sentTo(model)[0]?.body).not.toHaveProperty("top_logprobs");
  });
});

describe("the bound of an answer", () => {
  test("is said where the client says none", async () => {
    const model = rig.model("llama/");
    rig.upstream.answer(model, writes("x"));
    const answer = await rig.ask({ model });
    expect(answer.headers.get("x-sluice-changed")).toContain("messages->prompt");
    expect(answer.headers.get("x-sluice-changed")).toContain("+max_tokens");
    expect(sentTo(model)[0]?.body["max_tokens"]).toBe(4096);
  });

  test("is what the context leaves, at a server that can count", async () => {
    const model = rig.model("vllm/");
    rig.upstream.answer(
      model,
      ({ put }) => put(response(200, JSON.stringify({ count: 30, max_model_len: 130, tokens: [] }))),
      writes("x"),
    );
    expect((await rig.ask({ model })).status).toBe(200);
    const [counted, sent] = sentTo(model);
    expect(counted?.line).toBe("POST /tokenize HTTP/1.1");
    expect(counted?.body).toEqual({ model, prompt: sent?.body["prompt"], add_special_tokens: false });
    expect(sent?.body["max_tokens"]).toBe(100);
  });

  test("and a default if it does not", async () => {
    const model = rig.model("vllm/");
    rig.upstream.answer(model, ({ put }) => put(response(404, "{}")), writes("x"));
    expect((await rig.ask({ model })).status).toBe(200);
    expect(sentTo(model)[1]?.body["max_tokens"]).toBe(4096);
  });
});

describe("what cannot be done", () => {
  test("a picture is refused, and nothing is sent", async () => {
    const model = rig.model("llama/");
    rig.upstream.answer(model, writes("x"));
    const content = [
      { type: "text", text: "a" },
      { type: "image_url", image_url: { url: "https://pictures.example/a.png" } },
    ];
    expect(await errorOf(await rig.ask({ model, messages: [{ role: "user", content }] }))).toMatchObject({
      status: 400,
      code: "unsupported_parameter",
      param: "messages[0].content[1]",
    });
    expect(sentTo(model)).toEqual([]);
  });

  test("a chat that the template refuses", async () => {
    const messages = [...user, { role: "assistant", content: "a" }, ...user];
    expect(await errorOf(await rig.ask({ model: "own/m", messages, stream: true }))).toMatchObject({
      status: 400,
      message: "Too long a chat",
      param: "messages",
    });
  });

  test("a faulty template, of which nothing is told", async () => {
    const error = await errorOf(await rig.ask({ model: "broken/m" }));
    expect(error).toMatchObject({ status: 502, code: "template_failed" });
    expect(error.message).not.toContain("secret");
  });

  test("tools whose calls nobody reads", async () => {
    expect(await errorOf(await rig.ask({ model: "mute/m", tools }))).toMatchObject({ status: 400, param: "tools" });
  });

  test("an upstream without completions", async () => {
    expect(await errorOf(await rig.ask({ model: "hosted/m" }))).toMatchObject({ code: "endpoint_not_supported" });
  });
});

test("a server that refuses to stream is asked for the whole", async () => {
  const model = rig.model("llama/");
  rig.upstream.answer(model, ({ asked, put, ...rest }) =>
    asksForStream(asked.body)
      ? put(response(400, refusal("Streaming is not supported", null, "stream")))
      : writes('{"name": "weather", "parameters": {}}')({ asked, put, ...rest }),
  );
  const answer = await askStreamed({ model, messages: user, tools });
  expect(answer.choices[0]).toMatchObject({ finish_reason: "tool_calls" });
});

test("text reaches the client before the answer is over", async () => {
  const model = rig.model("llama/");
  let goOn: (() => void) | undefined;
  const read = new Promise<void>((settle) => (goOn = settle));
  rig.upstream.answer(model, async ({ put }) => {
    await put(streamHead() + inChunk(event(part("Hello"))));
    await read;
    return put(inChunk(event(part("", "stop")) + done) + lastChunk);
  });
  const answer = await rig.ask({ model, stream: true });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  expect(first).toContain('"content":"Hello"');
  goOn?.();
  while (!(await reader.read()).done);
});

test("legacy functions are told as tools, and the answer back", async () => {
  const model = rig.model("llama/");
  rig.upstream.answer(model, writes('{"name": "weather", "parameters": {"city": "Oslo"}}'));
  const answer = (await (await rig.ask({ model, functions: [TOOL.function] })).json()) as OpenAI.ChatCompletion;
  expect(answer.choices[0]).toMatchObject({
    message: { function_call: { name: "weather", arguments: '{"city": "Oslo"}' } },
    finish_reason: "function_call",
  });
});
