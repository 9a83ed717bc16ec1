import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashed, KEY, messages as hello, startRig, type Rig } from "./rig.ts";
import { always, type Script } from "./scripted-upstream.ts";
import {
  chunkOf,
  completion,
  done,
  event,
  finish,
  inChunk,
  lastChunk,
  refusal,
  response,
  role,
  says,
  streamHead,
  streamOf,
} from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    document: (url) => ({
      upstreams: { gpu: { base_url: url }, prefer: { base_url: url, prefer_stream: true } },
      routes: {
        "m/*": { targets: [{ upstream: "gpu" }] },
        "prefer/*": { targets: [{ upstream: "prefer" }] },
        "org/name:13b": { targets: [{ upstream: "gpu" }] },
        "a b/ü?#%": { targets: [{ upstream: "gpu" }] },
        hidden: { targets: [{ upstream: "gpu" }] },
      },
      tenants: {
        acme: { keys: [hashed(KEY)], models: ["m/*", "prefer/*", "org/name:13b", "a b/ü?#%"] },
        filled: {
          keys: [hashed("sk-filled")],
          models: ["m/*"],
          defaults: { temperature: 0.2, n: 2, stream_options: { include_usage: true } },
        },
        streamed: { keys: [hashed("sk-streamed")], models: ["m/*"], defaults: { stream: true } },
      },
    }),
  });
});
afterAll(() => rig.stop());

const messages = hello as [{ role: "user"; content: string }];
const client = (apiKey = KEY, more: object = {}): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${rig.gateway.url}/v1`, maxRetries: 0, ...more });

function scripted(script: Script, prefix = "m/"): string {
  const model = rig.model(prefix);
  rig.upstream.answer(model, script);
  return model;
}

const inForm: Script = ({ asked, put }) =>
  put(asked.body.includes('"stream":true') ? streamOf("hello") : response(200, completion("hello")));
const refusing: Script = ({ asked, put }) =>
  put(
    asked.body.includes('"stream":true')
      ? response(400, refusal("stream=true is not supported"))
      : response(200, completion("hello")),
  );

describe("a chat", () => {
  test.each<[string, Script, string]>([
    ["in the form asked for", inForm, "m/"],
    ["where streaming is refused", refusing, "m/"],
    ["where streaming is preferred", inForm, "prefer/"],
    ["as events only", always(streamOf("hello")), "m/"],
    ["as JSON only", always(response(200, completion("hello"))), "m/"],
  ])("%s", async (_what, script, prefix) => {
    const model = scripted(script, prefix);
    const whole = await client().chat.completions.create({ model, messages });
    expect(whole.choices).toMatchObject([
      { index: 0, finish_reason: "stop", message: { role: "assistant", content: "hello" } },
    ]);
    expect(whole.object).toBe("chat.completion");

    let text = "";
    for await (const chunk of await client().chat.completions.create({ model, messages, stream: true })) {
      expect(chunk.object).toBe("chat.completion.chunk");
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("hello");

    const runner = client().chat.completions.stream({ model, messages });
    expect(await runner.finalContent()).toBe("hello");
    expect((await runner.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop");
    expect(
      (await client().chat.completions.create({ model, messages }).asResponse()).headers.get("content-type"),
    ).toContain("application/json");
  });

  test("with tools through the helper", async () => {
    const call = { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } };
    const args = ['{"ci', 'ty":"', 'Köln"}'].map((piece) =>
      event(chunkOf({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    );
    const model = scripted(
      always(
        streamHead() +
          inChunk(
            event(chunkOf({ role: "assistant", content: null, tool_calls: [call] })) +
              args.join("") +
              event(chunkOf({}, "tool_calls")) +
              done,
          ) +
          lastChunk,
      ),
    );
    const tools = [{ type: "function" as const, function: { name: "weather", parameters: { type: "object" } } }];
    const final = await client().chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject([
      { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Köln"}' } },
    ]);
    expect(final.choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("cut off raises an error, streamed and whole, with what came before it", async () => {
    const model = scripted(
      async ({ put, wait, socket }) => (
        await put(streamHead() + inChunk(role + says("half"))),
        await wait(30),
        void socket.resetAndDestroy()
      ),
    );
    const stream = await client().chat.completions.create({ model, messages, stream: true });
    let text = "";
    const reading = (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    })();
    await expect(reading).rejects.toMatchObject({ code: "upstream_cut" });
    expect(text).toBe("half");
    await expect(client().chat.completions.stream({ model, messages }).finalContent()).rejects.toMatchObject({
      code: "upstream_cut",
    });
    await expect(client().chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 502,
      code: "upstream_cut",
    });
  });
});

describe("errors are of the client's classes", () => {
  test.each([
    [400, OpenAI.BadRequestError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ])("an upstream's %i", async (status, type) => {
    const model = scripted(
      always(response(status, refusal("words for the client", "some_code", "top_p"), "Retry-After: 3\r\n")),
    );
    for (const stream of [false, true]) {
      const error: unknown = await client()
        .chat.completions.create({ model, messages, stream })
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject({ status, code: "some_code", param: "top_p", type: "invalid_request_error" });
      expect((error as InstanceType<typeof OpenAI.APIError>).message).toContain("words for the client");
      expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get("retry-after")).toBe("3");
      expect((error as InstanceType<typeof OpenAI.APIError>).requestID).toMatch(/^req_/);
    }
  });

  test("the gateway's own", async () => {
    await expect(client("sk-wrong").models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(client(KEY, { defaultHeaders: { "x-tenant": "other" } }).models.list()).rejects.toBeInstanceOf(
      OpenAI.PermissionDeniedError,
    );
    await expect(client().chat.completions.create({ model: "hidden", messages })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(client().chat.completions.create({ model: "m/1", messages: [] })).rejects.toMatchObject({
      status: 400,
      param: "messages",
    });
    await expect(client().responses.create({ model: "m/1", input: "x" })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("chat") as string,
    });
  });

  test("a failure that passes is overcome by the client's own retry", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(
      model,
      always(response(503, refusal("busy"), "Retry-After-Ms: 10\r\n")),
      always(response(200, completion("second time"))),
    );
    const answer = await client(KEY, { maxRetries: 2 }).chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message.content).toBe("second time");
    expect(rig.upstream.asked(model)).toHaveLength(2);
  });
});

describe("models", () => {
  test("are listed and found, slashes and all", async () => {
    const list = await client().models.list();
    expect(list.data.map(({ id }) => id)).toEqual(["a b/ü?#%", "org/name:13b"]);
    for (const { id } of list.data)
      expect(await client().models.retrieve(id)).toEqual(list.data.find((card) => card.id === id));
    const plain = await fetch(`${rig.gateway.url}/v1/models/org/name:13b`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(await plain.json()).toEqual(list.data.find(({ id }) => id === "org/name:13b"));
    for (const card of list.data)
      expect(card).toMatchObject({
        object: "model",
        created: expect.any(Number) as number,
        owned_by: expect.any(String) as string,
      });
  });

  test.each(["hidden", "none", "org%2Fname%3A13", "%E0%A4%A", "%00", "..%2f..%2fhealth", "m"])(
    "%s is not found",
    async (id) => {
      const answer = await fetch(`${rig.gateway.url}/v1/models/${id}`, { headers: { authorization: `Bearer ${KEY}` } });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: "model_not_found", param: "model" } });
    },
  );

  test("answer to both base paths and to the azure key header", async () => {
    for (const base of ["", "/v1"]) {
      const answer = await fetch(`${rig.gateway.url}${base}/models`, { headers: { "api-key": KEY } });
      expect(((await answer.json()) as { object: string }).object).toBe("list");
    }
  });
});

describe("defaults of a tenant fill what the request leaves out, and count as if it had said it", () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const both =
    streamHead() +
    inChunk(
      [0, 1]
        .map((i) => event(chunkOf({ role: "assistant", content: `c${i}` }, null, i)) + event(chunkOf({}, "stop", i)))
        .join("") +
        event({ ...chunkOf({}), choices: [], usage }) +
        done,
    ) +
    lastChunk;

  test("n and stream_options", async () => {
    const model = scripted(always(both));
    const texts = ["", ""];
    let counted: unknown;
    for await (const chunk of await client("sk-filled").chat.completions.create({ model, messages, stream: true })) {
      for (const { index, delta } of chunk.choices) texts[index] += delta.content ?? "";
      counted ??= chunk.usage;
    }
    expect(texts).toEqual(["c0", "c1"]);
    const seen = JSON.parse(rig.upstream.asked(model)[0]?.body ?? "") as object;
    expect(seen).toMatchObject({ temperature: 0.2, n: 2, stream_options: { include_usage: true } });
    expect(counted).toEqual(usage);
  });

  test("not over what was said", async () => {
    const model = scripted(inForm);
    await client("sk-filled").chat.completions.create({ model, messages, temperature: 0, n: 1 });
    expect(JSON.parse(rig.upstream.asked(model)[0]?.body ?? "")).toMatchObject({ temperature: 0, n: 1 });
  });

  test("stream", async () => {
    const model = scripted(inForm);
    const answer = await rig.ask({ model }, { headers: { authorization: "Bearer sk-streamed" } });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const said = await rig.ask({ model, stream: false }, { headers: { authorization: "Bearer sk-streamed" } });
    expect(said.headers.get("content-type")).toContain("application/json");
  });
});

test("a finish of every choice ends the answer, though a late choice began after another had ended", async () => {
  const late = streamHead() + inChunk(event(chunkOf({ role: "assistant", content: "a" })) + finish);
  const model = scripted(async ({ put, wait }) => {
    await put(late);
    await wait(100);
    await put(
      inChunk(event(chunkOf({ role: "assistant", content: "b" }, null, 1)) + event(chunkOf({}, "stop", 1)) + done) +
        lastChunk,
    );
  });
  const answer = await client().chat.completions.create({ model, messages, n: 2 });
  expect(answer.choices.map(({ message }) => message.content)).toEqual(["a", "b"]);
});
