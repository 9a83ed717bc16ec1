import OpenAI from "openai";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorOf, eventually, hashed, KEY, messages, startRig, type Rig } from "../gateway/rig.ts";
import type { Script } from "../gateway/scripted-upstream.ts";
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
} from "../gateway/wire.ts";
import { asksForStream } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    document: (url) => ({
      upstreams: { one: { base_url: url, capabilities: { n: false }, keep_alive_ms: 200 } },
      routes: { "*": { targets: [{ upstream: "one" }] } },
      tenants: { acme: { keys: [hashed(KEY)] } },
    }),
  });
});
afterAll(() => rig.stop());

const usage = (completion_tokens: number): object => ({
  prompt_tokens: 7,
  completion_tokens,
  total_tokens: 7 + completion_tokens,
  completion_tokens_details: { reasoning_tokens: 1 },
});
const counted = (tokens: number): string => event({ ...chunkOf({}), choices: [], usage: usage(tokens) });

/** The n-th request is answered with `c<n>`, in the form it was asked in, after a while of its own. */
function numbered(more: { readonly pause?: number } = {}): Script {
  let count = 0;
  return async ({ asked, put, wait: pause }) => {
    const own = count++;
    const text = `c${own}`;
    if (!asksForStream(asked.body)) {
      await pause(more.pause ?? 0);
      const { usage: _usage, ...body } = JSON.parse(completion(text)) as Record<string, unknown>;
      return put(response(200, JSON.stringify({ ...body, id: `chatcmpl-${own}`, usage: usage(own + 1) })));
    }
    await put(streamHead());
    await put(inChunk(role + says("c")));
    await pause(20 * (3 - (own % 4)) + (more.pause ?? 0));
    return put(inChunk(says(String(own)) + finish + counted(own + 1) + done) + lastChunk);
  };
}

const client = (): OpenAI => new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
const sentTo = (model: string): Record<string, unknown>[] =>
  rig.upstream.asked(model).map(({ body }) => JSON.parse(body) as Record<string, unknown>);

describe("several choices of a server that gives one at a time", () => {
  test("whole", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, numbered());
    const answer = await rig.ask({ model, n: 3, seed: 5 });
    expect([answer.status, answer.headers.get("x-sluice-changed"), answer.headers.get("content-type")]).toEqual([
      200,
      "n->requests",
      "application/json",
    ]);
    const body = (await answer.json()) as OpenAI.ChatCompletion;
    expect(body.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(body.choices.map(({ message }) => message.content).sort()).toEqual(["c0", "c1", "c2"]);
    // The prompt is read once, the answers are all written: 1 + 2 + 3.
    expect(body.usage).toEqual({
      prompt_tokens: 7,
      completion_tokens: 6,
      total_tokens: 13,
      completion_tokens_details: { reasoning_tokens: 3 },
    });
    expect(sentTo(model)).toEqual(Array.from({ length: 3 }, () => ({ messages, model, seed: 5 })));
  });

  test("streamed: one stream, one id, the choices begin in order and interleave", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, numbered());
    const stream = await client().chat.completions.create({
      model,
      messages: messages as never,
      n: 4,
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts = ["", "", "", ""];
    const order: number[] = [];
    const roles = [0, 0, 0, 0];
    const ids = new Set<string>();
    let total: unknown;
    for await (const chunk of stream) {
      ids.add(chunk.id);
      for (const { index, delta } of chunk.choices) {
        if (!order.includes(index)) order.push(index);
        if (delta.role !== undefined) roles[index] = (roles[index] ?? 0) + 1;
        texts[index] += delta.content ?? "";
      }
      total = chunk.usage ?? total;
    }
    expect(order).toEqual([0, 1, 2, 3]);
    expect(roles).toEqual([1, 1, 1, 1]);
    expect([...texts].sort()).toEqual(["c0", "c1", "c2", "c3"]);
    expect(ids.size).toBe(1);
    expect(total).toEqual({
      prompt_tokens: 7,
      completion_tokens: 10,
      total_tokens: 17,
      completion_tokens_details: { reasoning_tokens: 4 },
    });
  });

  test("by the strictest helper of the client", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, numbered());
    const answer = await client()
      .chat.completions.stream({ model, messages: messages as never, n: 2 })
      .finalChatCompletion();
    expect(answer.choices.map(({ message }) => message.content).sort()).toEqual(["c0", "c1"]);
  });

  test("four at a time", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, numbered({ pause: 150 }));
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, rig.upstream.held(model))), 5);
    const answer = await rig.ask({ model, n: 8 });
    clearInterval(watch);
    expect(((await answer.json()) as OpenAI.ChatCompletion).choices).toHaveLength(8);
    expect(rig.upstream.asked(model)).toHaveLength(8);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  });

  test("more than eight is refused", async () => {
    const answer = await rig.ask({ model: "m", n: 9 });
    expect(await errorOf(answer)).toMatchObject({ status: 400, code: "unsupported_parameter", param: "n" });
  });

  test("one is one", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, numbered());
    expect((await rig.ask({ model, n: 1 })).headers.get("x-sluice-changed")).toBeNull();
    expect(sentTo(model)).toMatchObject([{ n: 1 }]);
  });
});

describe("if one of them fails", () => {
  const slow: Script = async ({ asked, put, gone }) => {
    if (asksForStream(asked.body)) await put(streamHead() + inChunk(role + says("a")));
    return gone;
  };
  const failing: Script = async ({ put, wait: pause }) => {
    await pause(100);
    return put(response(429, refusal("slow down"), "retry-after: 7\r\n"));
  };

  test("whole: the others are called off, and the whole fails with its error", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, slow, failing, slow);
    const answer = await rig.ask({ model, n: 3 });
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(await errorOf(answer)).toMatchObject({ status: 429, message: "slow down" });
    await eventually("the others are called off", () => rig.upstream.held(model) === 0);
  });

  test("streamed: one error event and no end of an answer", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, slow, failing, slow);
    const answer = await rig.ask({ model, n: 3, stream: true });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain('"message":"slow down"');
    expect(text.trimEnd().split("\n\n").at(-1)).toContain('"error"');
    expect(text).not.toContain("[DONE]");
    await eventually("the others are called off", () => rig.upstream.held(model) === 0);
  });

  test("streamed, before anything has come: an HTTP error", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, ({ put }) => put(response(500, refusal("no"))));
    expect(await errorOf(await rig.ask({ model, n: 2, stream: true }))).toMatchObject({ status: 500, message: "no" });
  });

  test("a stream that is cut is the failure of all", async () => {
    const model = rig.model("m");
    rig.upstream.answer(model, slow, async ({ put, socket }) => {
      await put(streamHead() + inChunk(role + says("b")));
      socket.resetAndDestroy();
    });
    const text = await (await rig.ask({ model, n: 2, stream: true })).text();
    expect(text).toContain("upstream_cut");
    await eventually("the other is called off", () => rig.upstream.held(model) === 0);
  });
});

test("a client that waits is kept alive, and one that leaves takes all of them along", async () => {
  const model = rig.model("m");
  rig.upstream.answer(model, ({ gone }) => gone);
  const leave = new AbortController();
  const answer = await rig.ask({ model, n: 2, stream: true }, { signal: leave.signal });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^:/);
  expect(rig.upstream.held(model)).toBe(2);
  await wait(50);
  leave.abort();
  await eventually("both are called off", () => rig.upstream.held(model) === 0);
});
