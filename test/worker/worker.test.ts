import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { createApp } from "../../src/app.ts";

const KEY_HASH = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"; // of "foo"
const messages = [{ role: "user", content: "hello" }];

type Upstream = (url: string, init: RequestInit) => Response | Promise<Response>;

const document = {
  upstreams: { bound: { base_url: "http://10.0.0.5:8000/v1", binding: "VPC", credential: "GPU_KEY" } },
  routes: { m: { targets: [{ upstream: "bound" }] } },
  tenants: { acme: { keys: [KEY_HASH] } },
};

/** One request to an app of its own, whose only upstream is a function. */
async function ask(body: object, upstream: Upstream, env: object = {}): Promise<{ status: number; text: string }> {
  const app = createApp();
  const context = createExecutionContext();
  const request = new Request("https://gateway.test/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer foo" },
    body: JSON.stringify({ model: "m", messages, ...body }),
  });
  const answer = await app.fetch(
    request,
    { GATEWAY: document, GPU_KEY: "gpu-secret", VPC: { fetch: upstream }, ...env },
    context,
  );
  const text = await answer.text();
  await waitOnExecutionContext(context);
  return { status: answer.status, text };
}

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    { index: 0, message: { role: "assistant", content: "hi", refusal: null }, logprobs: null, finish_reason: "stop" },
  ],
};

describe("a binding", () => {
  test("is what reaches the upstream, with its secret", async () => {
    const seen: { url: string; authorization: string | null }[] = [];
    const { status, text } = await ask({}, (url, { headers }) => {
      seen.push({ url, authorization: new Headers(headers).get("authorization") });
      return Response.json(completion);
    });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual(completion);
    expect(seen).toEqual([{ url: "http://10.0.0.5:8000/v1/chat/completions", authorization: "Bearer gpu-secret" }]);
  });

  test("that fails is an upstream that cannot be reached, in both forms", async () => {
    for (const stream of [false, true]) {
      const { status, text } = await ask({ stream }, () => Promise.reject(new Error("VPC service 10.0.0.5 is gone")));
      expect(status).toBe(502);
      expect(text).toContain("upstream_unreachable");
      expect(text).not.toContain("10.0.0.5");
    }
  });

  test.each<[string, object]>([
    ["is missing", { VPC: undefined }],
    ["is a text", { VPC: "http://10.0.0.5" }],
    ["is an object without fetch", { VPC: { get: () => null } }],
    ["is null", { VPC: null }],
  ])("that %s is named as the operator's fault", async (_what, env) => {
    const { status, text } = await ask({}, () => Response.json(completion), env);
    expect(status).toBe(502);
    expect(text).toContain("binding_missing");
    expect(text).not.toContain("VPC");
  });

  test.each<[string, unknown]>([
    ["an object", { key: "x" }],
    ["a number", 5],
    ["a namespace", { get: () => "x" }],
    ["an array", ["x"]],
    ["a String object", Object("boxed") as unknown],
    ["null", null],
    ["empty", ""],
  ])("a credential that is %s is no credential", async (_what, GPU_KEY) => {
    let asked = 0;
    const { status, text } = await ask({}, () => (asked++, Response.json(completion)), { GPU_KEY });
    expect(status).toBe(502);
    expect(text).toContain("credential_missing");
    expect(asked).toBe(0);
  });
});

test("a stream passes inside workerd as outside", async () => {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;
  const events =
    chunk({ role: "assistant", content: "" }, null) +
    chunk({ content: "hi" }, null) +
    chunk({}, "stop") +
    "data: [DONE]\n\n";
  const { status, text } = await ask(
    { stream: true },
    () => new Response(events, { headers: { "content-type": "text/event-stream" } }),
  );
  expect(status).toBe(200);
  expect(text).toBe(events);
});

test("a bug of our own is a 500 that tells nothing", async () => {
  const env = { GATEWAY: document, VPC: { fetch: () => Response.json(completion) } };
  Object.defineProperty(env, "GPU_KEY", {
    get() {
      throw new RangeError("secret words");
    },
  });
  for (const stream of [false, true]) {
    const context = createExecutionContext();
    const request = new Request("https://gateway.test/v1/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer foo" },
      body: JSON.stringify({ model: "m", messages, stream }),
    });
    const answer = await createApp().fetch(request, env, context);
    const text = await answer.text();
    await waitOnExecutionContext(context);
    expect(answer.status).toBe(500);
    expect(text).toContain("internal_error");
    expect(text).not.toContain("secret words");
  }
});

test("an AI binding streams, too", async () => {
  const config = {
    upstreams: { ai: { provider: "workers-ai", binding: "AI" } },
    routes: { m: { targets: [{ upstream: "ai", model: "@cf/meta/llama" }] } },
    tenants: { acme: { keys: [KEY_HASH] } },
  };
  const events = ['{"response":"h"}', '{"response":"i"}', "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
  const finished = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`;
  const said = events.replace("data: [DONE]", `${finished}data: [DONE]`);
  const run = async (): Promise<Response> => new Response(said, { headers: { "content-type": "text/event-stream" } });
  for (const stream of [true, false]) {
    const { status, text } = await ask({ stream }, () => Response.error(), { GATEWAY: config, AI: { run } });
    expect([status, text]).toEqual([200, expect.stringContaining(stream ? '"content":"h"' : '"content":"hi"')]);
  }
});

test("the Worker without a document answers everything with a 503", async () => {
  for (const path of ["/health", "/v1/models", "/"]) {
    const answer = await exports.default.fetch(`https://gateway.test${path}`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code: "gateway_not_configured" } });
  }
});

test("what belongs to one request is not used by another: many at once, and one after the other", async () => {
  const app = createApp();
  const once = async (i: number): Promise<void> => {
    const context = createExecutionContext();
    const request = new Request("https://gateway.test/v1/chat/completions", {
      method: "POST",
      headers: { authorization: "Bearer foo" },
      body: JSON.stringify({ model: "m", messages, user: `u${i}`, stream: i % 2 === 0 }),
    });
    const fetch: Upstream = (_url, { body }) =>
      Response.json({ ...completion, id: (JSON.parse(body as string) as { user: string }).user });
    const answer = await app.fetch(request, { GATEWAY: document, GPU_KEY: "x", VPC: { fetch } }, context);
    expect(await answer.text()).toContain(`"id":"u${i}"`);
    await waitOnExecutionContext(context);
  };
  await Promise.all(Array.from({ length: 30 }, (_, i) => once(i)));
  for (let i = 30; i < 40; i++) await once(i);
});
