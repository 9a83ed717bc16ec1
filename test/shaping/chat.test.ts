import { createServer } from "node:http";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorOf, hashed, KEY, messages, startRig, type Rig } from "../gateway/rig.ts";
import { always, type Script } from "../gateway/scripted-upstream.ts";
import { chunkOf, completion, done, event, inChunk, lastChunk, response, streamHead } from "../gateway/wire.ts";
import { asksForStream, inFormAsked } from "./wire.ts";

const PROVIDER_SETTINGS = {
  vllm: { provider: "vllm" },
  openai: { provider: "openai" },
  ollama: { provider: "ollama" },
  text: { capabilities: { content_parts: false } },
  dropping: { provider: "anthropic", unsupported: "drop" },
  inline: { capabilities: { image_urls: false }, image_hosts: ["127.0.0.1"] },
  strict: { capabilities: { image_urls: false } },
  plain: { capabilities: { stream_options: false } },
  azure: { provider: "azure-openai", credential: "AZURE_KEY" },
};

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    secrets: { AZURE_KEY: "azure-key" },
    document: (url) => ({
      upstreams: Object.fromEntries(
        Object.entries(PROVIDER_SETTINGS).map(([name, setting]) => [
          name,
          { ...setting, base_url: name === "azure" ? new URL(url).origin : url },
        ]),
      ),
      routes: Object.fromEntries(
        Object.keys(PROVIDER_SETTINGS).map((name) => [`${name}/*`, { targets: [{ upstream: name }] }]),
      ),
      tenants: {
        acme: { keys: [hashed(KEY)] },
        other: { keys: [hashed("sk-other")] },
        boss: { keys: [hashed("sk-boss")], privileged: true },
        filled: { keys: [hashed("sk-filled")], defaults: { temperature: 0.5 } },
      },
    }),
  });
});
afterAll(() => rig.stop());

const changed = (answer: Response): string | null => answer.headers.get("x-sluice-changed");
const sent = (model: string, at = -1): Record<string, unknown> =>
  JSON.parse(rig.upstream.asked(model).at(at)?.body ?? "{}") as Record<string, unknown>;

async function ask(
  upstream: string,
  members: object,
  script: Script = always(response(200, completion("ok"))),
  key = KEY,
): Promise<{ answer: Response; model: string; text: string }> {
  const model = rig.model(`${upstream}/`);
  rig.upstream.answer(model, script);
  const answer = await rig.ask({ model, ...members }, { headers: { authorization: `Bearer ${key}` } });
  return { answer, model, text: await answer.clone().text() };
}

describe("what was changed is told", () => {
  const members = { max_tokens: 5, stop: [], user: null };
  const told = "-user, -stop, max_tokens->max_completion_tokens";

  test("with JSON", async () => {
    const { answer, model } = await ask("openai", members);
    expect([answer.status, changed(answer)]).toEqual([200, told]);
    expect(sent(model)).toEqual({ model, messages, max_completion_tokens: 5 });
  });
  test("with a stream", async () => {
    const { answer, text } = await ask("openai", { ...members, stream: true }, inFormAsked("ok"));
    expect([answer.headers.get("content-type"), changed(answer)]).toEqual(["text/event-stream; charset=utf-8", told]);
    expect(text).toContain("[DONE]");
  });
  test("with an error", async () => {
    const { answer } = await ask(
      "openai",
      members,
      always(response(429, JSON.stringify({ error: { message: "slow down" } }))),
    );
    expect([answer.status, changed(answer)]).toEqual([429, told]);
  });
  test("what was not changed is not", async () => {
    const { answer } = await ask("openai", {});
    expect(changed(answer)).toBeNull();
  });
  test("what an operator's defaults fill in is", async () => {
    const { answer, model } = await ask("openai", {}, undefined, "sk-filled");
    expect([changed(answer), sent(model)["temperature"]]).toEqual(["+temperature", 0.5]);
  });
  test("a name that would be a header of its own is not", async () => {
    const { answer } = await ask("openai", { "x\r\nset-cookie: a=b": null });
    expect([changed(answer), answer.headers.get("set-cookie")]).toEqual(["1 more", null]);
  });
});

describe("tenants", () => {
  test("have salts of their own", async () => {
    const salts = await Promise.all(
      [KEY, "sk-other"].map(async (key) => sent((await ask("vllm", {}, undefined, key)).model)["cache_salt"]),
    );
    expect(salts[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(salts[0]).not.toBe(salts[1]);
  });
  test("do not reach beyond their request, unless they may", async () => {
    const { answer, model } = await ask("vllm", { priority: 1 });
    expect(await errorOf(answer)).toMatchObject({ status: 400, code: "privileged_parameter", param: "priority" });
    expect(rig.upstream.asked(model)).toHaveLength(0);
    const boss = await ask("vllm", { priority: 1 }, undefined, "sk-boss");
    expect([boss.answer.status, sent(boss.model)["priority"]]).toEqual([200, 1]);
  });
});

describe("what cannot be", () => {
  test.each<[string, object, string]>([
    ["dropping", { temperature: 1.5 }, "temperature"],
    ["ollama", { tools: [{ type: "function", function: { name: "f" } }], tool_choice: "required" }, "tool_choice"],
    ["ollama", { n: 9 }, "n"],
    ["vllm", { max_tokens: 0 }, "max_tokens"],
    [
      "text",
      {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] }],
      },
      "messages[0].content[0]",
    ],
    [
      "strict",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/x" } }] }] },
      "messages[0].content[0].image_url.url",
    ],
  ])("%s %j is refused by name, and nobody is asked", async (upstream, members, param) => {
    const { answer, model } = await ask(upstream, members);
    expect(await errorOf(answer)).toMatchObject({ status: 400, type: "invalid_request_error", param });
    expect(rig.upstream.asked(model)).toHaveLength(0);
  });
  test("is left out where the operator wants it so", async () => {
    const { answer, model } = await ask("dropping", { response_format: { type: "json_object" }, logprobs: true });
    expect([answer.status, changed(answer)]).toEqual([200, "-response_format, -logprobs"]);
    expect(sent(model)).toEqual({ model, messages });
  });
});

test("stream_options do not go where they are not taken", async () => {
  const { answer, model } = await ask(
    "plain",
    { stream: true, stream_options: { include_usage: true } },
    inFormAsked("ok"),
  );
  expect(answer.status).toBe(200);
  expect(sent(model)).toEqual({ model, messages, stream: true });
});

test("azure: the deployment in the path, the version, the key in its header", async () => {
  const { answer, model } = await ask("azure", {});
  expect(answer.status).toBe(200);
  const [asked] = rig.upstream.asked(model);
  expect(asked?.line).toBe(
    `POST /openai/deployments/${encodeURIComponent(model)}/chat/completions?api-version=2024-10-21 HTTP/1.1`,
  );
  expect(asked?.headers).toMatchObject({ "api-key": "azure-key" });
  expect(asked?.headers).not.toHaveProperty("authorization");
});

test("an image is fetched and put in", async () => {
  const png = Buffer.from("89504e470d0a1a0a01", "hex");
  const pages = createServer((_request, reply) => void reply.setHeader("content-type", "image/png").end(png));
  await new Promise<void>((settle) => pages.listen(0, "127.0.0.1", settle));
  try {
    const { port } = pages.address() as { port: number };
    const content = [
      { type: "text", text: "x" },
      { type: "image_url", image_url: { url: `http://127.0.0.1:${port}/a.png` } },
    ];
    const { answer, model } = await ask("inline", { messages: [{ role: "user", content }] });
    expect([answer.status, changed(answer)]).toEqual([200, "image_url->data"]);
    expect(sent(model)["messages"]).toEqual([
      {
        role: "user",
        content: [
          content[0],
          { type: "image_url", image_url: { url: `data:image/png;base64,${png.toString("base64")}` } },
        ],
      },
    ]);
  } finally {
    pages.close();
  }
});

describe("a client that speaks of functions", () => {
  const functions = [{ name: "get_weather", parameters: { type: "object", properties: {} } }];
  const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
  const streamed = [
    event(
      chunkOf({
        role: "assistant",
        content: null,
        tool_calls: [{ index: 0, ...call, function: { name: "get_weather", arguments: "" } }],
      }),
    ),
    event(chunkOf({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] })),
    event(chunkOf({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] })),
    event(chunkOf({}, "tool_calls")),
    done,
  ].join("");
  const whole = JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: null, refusal: null, tool_calls: [call] },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ],
  });
  const both: Script = ({ asked, put }) =>
    put(asksForStream(asked.body) ? streamHead() + inChunk(streamed) + lastChunk : response(200, whole));

  const client = (): OpenAI => new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });

  test("whole", async () => {
    const model = rig.model("vllm/");
    rig.upstream.answer(model, both);
    const answer = await client().chat.completions.create({
      model,
      messages: messages as never,
      functions,
      function_call: "auto",
    });
    expect(sent(model)).toMatchObject({ tools: [{ type: "function", function: functions[0] }], tool_choice: "auto" });
    expect(sent(model)).not.toHaveProperty("functions");
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "function_call",
      message: { function_call: call.function },
    });
    expect(answer.choices[0]?.message.tool_calls).toBeUndefined();
  });
  test("streamed", async () => {
    const model = rig.model("vllm/");
    rig.upstream.answer(model, both);
    let name = "";
    let args = "";
    let finish: string | null = null;
    for await (const chunk of await client().chat.completions.create({
      model,
      messages: messages as never,
      functions,
      stream: true,
    })) {
      const [choice] = chunk.choices;
      expect(choice?.delta.tool_calls).toBeUndefined();
      name += choice?.delta.function_call?.name ?? "";
      args += choice?.delta.function_call?.arguments ?? "";
      finish = choice?.finish_reason ?? finish;
    }
    expect([name, args, finish]).toEqual(["get_weather", '{"city":"Paris"}', "function_call"]);
  });
});
