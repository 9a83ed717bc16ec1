import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCompletion, readStream } from "../conformance/strict.ts";
import { envelopeOf, events, sendJson, startRig, type Answer, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    single: { capabilities: { prompt_lists: false } },
    alone: { capabilities: { prompt_lists: false, n: false } },
    poor: { capabilities: { best_of: false, suffix: false, echo: false, prompt_tokens: false, logprobs: false } },
    dropping: { capabilities: { best_of: false, suffix: false }, unsupported: "drop" },
    slow: { capabilities: { prompt_lists: false }, keep_alive_ms: 50 },
    whole: { capabilities: { streaming: false, prompt_lists: false } },
    chatty: { provider: "vllm" },
  });
});
afterAll(() => rig.stop());

const HEAD = { id: "cmpl-1", object: "text_completion", created: 5, model: "m" };
const USAGE = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
const choice = (index: number, text: string, finish: string | null = null): object => ({
  index,
  text,
  logprobs: null,
  finish_reason: finish,
});

/** Says of each prompt what it is, in the form asked for. */
const saying: Answer = ({ json }, response) => {
  const prompts =
    Array.isArray(json["prompt"]) && typeof json["prompt"][0] !== "number"
      ? (json["prompt"] as unknown[])
      : [json["prompt"]];
  const n = (json["n"] as number | undefined) ?? 1;
  const texts = prompts.flatMap((prompt) => Array<string>(n).fill(`<${String(prompt)}>`));
  if (json["stream"] !== true)
    return sendJson(response, { ...HEAD, choices: texts.map((text, i) => choice(i, text, "stop")), usage: USAGE });
  const usage = (json["stream_options"] as { include_usage?: boolean } | undefined)?.include_usage === true;
  events(
    response,
    ...texts.map((text, i) => ({ ...HEAD, choices: [choice(i, text)] })),
    ...texts.map((_, i) => ({ ...HEAD, choices: [choice(i, "", "stop")] })),
    ...(usage ? [{ ...HEAD, choices: [], usage: USAGE }] : []),
    "[DONE]",
  );
};

describe("the openai client", () => {
  test.each<[string, string | string[] | number[] | number[][], string[]]>([
    ["a text", "a", ["<a>"]],
    ["texts", ["a", "b"], ["<a>", "<b>"]],
    ["token ids", [1, 2], ["<1,2>"]],
    ["lists of token ids", [[1, 2], [3]], ["<1,2>", "<3>"]],
  ])("%s, whole and streamed", async (_what, prompt, texts) => {
    rig.answer(saying);
    for (const model of ["m", "single/m"]) {
      const whole = await rig.client().completions.create({ model, prompt });
      expect(whole.choices.map(({ index, text, finish_reason }) => [index, text, finish_reason])).toEqual(
        texts.map((text, i) => [i, text, "stop"]),
      );
      const streamed = texts.map(() => "");
      for await (const chunk of await rig.client().completions.create({ model, prompt, stream: true })) {
        for (const { index, text } of chunk.choices) streamed[index] += text;
      }
      expect(streamed).toEqual(texts);
    }
  });
});

describe("the upstream", () => {
  test("gets the body as it is, and `max_tokens: 0` passes", async () => {
    rig.answer(saying);
    const body =
      '{ "prompt":["a","b"], "model":"m","max_tokens":0,"echo":true,"logprobs":1,"n":2,"seed":9007199254740993 }';
    await rig.post("/v1/completions", body);
    expect(rig.seen[0]?.path).toBe("/v1/completions");
    expect(rig.seen[0]?.body.toString()).toBe(body);
  });

  test("clean events leave byte for byte", async () => {
    rig.answer(saying);
    const text = await (await rig.post("/completions", { model: "m", prompt: "a", stream: true })).text();
    expect(text).toBe(
      [
        { ...HEAD, choices: [choice(0, "<a>")] },
        { ...HEAD, choices: [choice(0, "", "stop")] },
      ]
        .map((one) => `data: ${JSON.stringify(one)}\n\n`)
        .join("") + "data: [DONE]\n\n",
    );
  });

  test("refuses to stream lists of prompts: is asked for JSON, and the next time at once", async () => {
    rig.answer((seen, response, request) =>
      seen.json["stream"] === true && Array.isArray(seen.json["prompt"])
        ? sendJson(response, { error: { message: "Streaming is not supported for batch requests" } }, 400)
        : saying(seen, response, request),
    );
    for (const asked of [2, 1]) {
      rig.seen.length = 0;
      const answer = await rig.post("/v1/completions", { model: "batch", prompt: ["a", "b"], stream: true });
      const reading = readStream(Buffer.from(await answer.arrayBuffer()), { legacy: true });
      expect(reading.problems).toEqual([]);
      expect(reading.answer.choices.map(({ content }) => content)).toEqual(["<a>", "<b>"]);
      expect(rig.seen).toHaveLength(asked);
    }
    rig.seen.length = 0;
    await (await rig.post("/v1/completions", { model: "batch", prompt: "a", stream: true })).text();
    expect(rig.seen.map(({ json }) => json["stream"])).toEqual([true]);
  });

  test("is not sent what it would ignore or refuse", async () => {
    rig.answer(saying);
    for (const [param, value] of [
      ["best_of", 2],
      ["suffix", "x"],
      ["echo", true],
      ["logprobs", 0],
      ["prompt", [1, 2]],
    ] as const) {
      const answer = await rig.post("/v1/completions", { model: "poor/m", prompt: "a", [param]: value });
      expect(await envelopeOf(answer)).toMatchObject({ status: 400, code: "unsupported_parameter", param });
    }
    expect(rig.seen).toHaveLength(0);
    const harmless = await rig.post("/v1/completions", {
      model: "poor/m",
      prompt: "a",
      best_of: 1,
      suffix: "",
      echo: false,
    });
    expect(harmless.status).toBe(200);
    const dropped = await rig.post("/v1/completions", { model: "dropping/m", prompt: "a", best_of: 2, suffix: "x" });
    expect(dropped.headers.get("x-sluice-changed")).toBe("-best_of, -suffix");
    expect(rig.seen.at(-1)?.json).toEqual({ model: "dropping/m", prompt: "a" });
  });
});

describe("a server that takes one prompt at a time", () => {
  const ask = (members: object): Promise<Response> =>
    rig.post("/v1/completions", { model: "single/m", prompt: ["a", "b", "c"], ...members });

  test.each([["single/m"], ["whole/m"]])("streamed: %s", async (model) => {
    rig.answer(saying);
    const answer = await ask({ model, stream: true, n: 2, stream_options: { include_usage: true } });
    const reading = readStream(Buffer.from(await answer.arrayBuffer()), { legacy: true, includeUsage: true });
    expect(reading.problems).toEqual([]);
    expect(reading.answer.choices.map(({ index, content }) => [index, content])).toEqual([
      [0, "<a>"],
      [1, "<a>"],
      [2, "<b>"],
      [3, "<b>"],
      [4, "<c>"],
      [5, "<c>"],
    ]);
    expect(reading.answer.usage).toEqual({ prompt_tokens: 6, completion_tokens: 9, total_tokens: 15 });
    expect(rig.seen.map(({ json }) => json["prompt"])).toEqual(["a", "b", "c"]);
  });

  test("and one choice at a time", async () => {
    rig.answer(saying);
    const answer = await ask({ model: "alone/m", prompt: ["a", "b"], n: 2 });
    const reading = readCompletion(Buffer.from(await answer.arrayBuffer()), { legacy: true });
    expect(reading.problems).toEqual([]);
    expect(reading.answer.choices.map(({ index, content }) => [index, content])).toEqual([
      [0, "<a>"],
      [1, "<a>"],
      [2, "<b>"],
      [3, "<b>"],
    ]);
    expect(reading.answer.usage).toEqual({ prompt_tokens: 4, completion_tokens: 12, total_tokens: 16 });
    expect(rig.seen.map(({ json }) => [json["prompt"], json["n"]])).toEqual([
      ["a", undefined],
      ["a", undefined],
      ["b", undefined],
      ["b", undefined],
    ]);
  });

  test("fails as a whole if one prompt fails", async () => {
    const failing: Answer = (seen, response, request) =>
      seen.json["prompt"] === "b"
        ? sendJson(response, { error: { message: "no b" } }, 400)
        : saying(seen, response, request);
    rig.answer(failing);
    expect(await envelopeOf(await ask({}))).toMatchObject({ status: 400, message: "no b" });
    expect(rig.seen).toHaveLength(2);
    const reading = readStream(Buffer.from(await (await ask({ stream: true })).arrayBuffer()), { legacy: true });
    expect(reading.problems).toEqual([]);
    expect(reading.ended).toBe(false);
    expect(reading.error).toMatchObject({ message: "no b" });
    rig.answer((_seen, response) => sendJson(response, { error: { message: "no" } }, 422));
    expect(await envelopeOf(await ask({ stream: true }))).toMatchObject({ status: 422, message: "no" });
  });

  test("a stream that breaks off in one of them ends in one error event", async () => {
    rig.answer((seen, response, request) =>
      seen.json["prompt"] === "b"
        ? events(response, { ...HEAD, choices: [choice(0, "half")] })
        : saying(seen, response, request),
    );
    const reading = readStream(Buffer.from(await (await ask({ stream: true })).arrayBuffer()), { legacy: true });
    expect(reading.problems).toEqual([]);
    expect(reading.error).toMatchObject({ code: "upstream_cut" });
    expect(reading.answer.choices.map(({ content }) => content)).toEqual(["<a>", "half"]);
    expect(rig.seen).toHaveLength(2);
  });

  test("silences are covered by comments", async () => {
    rig.answer((seen, response, request) => void setTimeout(() => saying(seen, response, request), 300));
    const text = await (await ask({ model: "slow/m", stream: true })).text();
    expect(text.match(/^: keep-alive$/gm)?.length).toBeGreaterThan(5);
    expect(readStream(Buffer.from(text), { legacy: true }).problems).toEqual([]);
  });

  test("more than a few are refused", async () => {
    rig.answer(saying);
    expect(await envelopeOf(await ask({ prompt: Array(200).fill("a") }))).toMatchObject({
      status: 400,
      param: "prompt",
    });
    expect(rig.seen).toHaveLength(0);
  });

  test("a client that leaves stops it", async () => {
    let gone = false;
    rig.answer((_seen, response) => {
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write(`data: ${JSON.stringify({ ...HEAD, choices: [choice(0, "x")] })}\n\n`);
      response.on("close", () => (gone = true));
    });
    const leave = new AbortController();
    const answer = await rig.post(
      "/v1/completions",
      { model: "single/m", prompt: ["a", "b"], stream: true },
      { signal: leave.signal },
    );
    await answer.body?.getReader().read();
    leave.abort();
    await expect.poll(() => gone, { timeout: 10_000 }).toBe(true);
    expect(rig.seen).toHaveLength(1);
  });
});

describe("errors", () => {
  test("what is wrong in itself is told before any upstream is asked", async () => {
    rig.answer(saying);
    expect(await envelopeOf(await rig.post("/v1/completions", { model: "m" }))).toMatchObject({
      status: 400,
      param: "prompt",
    });
    expect(await envelopeOf(await rig.post("/v1/completions", "{"))).toMatchObject({
      status: 400,
      code: "invalid_json",
    });
    expect(
      (await rig.post("/v1/completions", { model: "m", prompt: "a" }, { headers: { authorization: "Bearer no" } }))
        .status,
    ).toBe(401);
    expect((await fetch(`${rig.gateway.url}/v1/completions`)).status).toBe(405);
    expect(rig.seen).toHaveLength(0);
  });

  test("vLLM's late error is an HTTP error, and members of others are not open", async () => {
    rig.answer((_seen, response) =>
      events(
        response,
        {
          error: { message: "Requested sample logprobs of 25", type: "BadRequestError", param: "logprobs", code: 400 },
        },
        "[DONE]",
      ),
    );
    expect(
      await envelopeOf(
        await rig.post("/v1/completions", { model: "chatty/m", prompt: "a", stream: true, logprobs: 25 }),
      ),
    ).toMatchObject({ status: 400, param: "logprobs" });
    expect(
      await envelopeOf(await rig.post("/v1/completions", { model: "chatty/m", prompt: "a", priority: 1 })),
    ).toMatchObject({ status: 400, param: "priority" });
  });
});
