import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCaptures } from "../fixtures/captures.ts";
import { PASSED } from "../../src/http/passed-endpoints.ts";
import { envelopeOf, KEY, sendJson, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ vllm: { provider: "vllm" }, hasty: { idle_ms: 200 } }, { max_body_bytes: 3000 });
});
afterAll(() => rig.stop());

describe("the paths of the upstream", () => {
  test.each<[string, string, string]>([
    ["/v1/rerank", "/v1/rerank", "/v1/rerank"],
    ["/v2/rerank", "/v2/rerank", "/v2/rerank"],
    ["/rerank", "/rerank", "/rerank"],
    ["/v1/score", "/v1/score", "/v1/score"],
    ["/score", "/score", "/score"],
    ["/tokenize", "/tokenize", "/tokenize"],
    ["/detokenize", "/detokenize", "/detokenize"],
    ["/v1/moderations", "/v1/moderations", ""],
    ["/moderations", "/v1/moderations", ""],
    ["/v1/images/generations", "/v1/images/generations", ""],
    ["/v1/audio/speech", "/v1/audio/speech", ""],
  ])("%s", async (path, there, atVllm) => {
    rig.answer((_seen, response) => sendJson(response, { id: "x", score: 1.5 }));
    const body = `{"model":"m","input":"hi","n":9007199254740993}`;
    const answer = await rig.post(path, body);
    expect([answer.status, await answer.text()]).toEqual([200, '{"id":"x","score":1.5}']);
    expect(rig.seen.map((seen) => [seen.path, seen.body.toString()])).toEqual([[there, body]]);
    expect(rig.seen[0]?.headers["authorization"]).toBeUndefined();

    const other = await rig.post(path, { model: "vllm/m" });
    if (atVllm === "") expect(await envelopeOf(other)).toMatchObject({ status: 404, code: "endpoint_not_supported" });
    else expect(rig.seen[1]?.path).toBe(atVllm);

    await rig.post(path, { model: "renamed" });
    expect(rig.seen.at(-1)?.json).toEqual({ model: "there" });
  });

  test("are never others", async () => {
    rig.answer((_seen, response) => sendJson(response, {}));
    for (const path of [
      "/v1/tokenize",
      "/v1/load_lora_adapter",
      "/invocations",
      "/pooling",
      "/metrics",
      "/v1/rerank/x",
      "/v1/../metrics",
      "/v1/rerank%2f..%2fmetrics",
      "/v2/score",
    ]) {
      expect((await rig.post(path, { model: "m" })).status).toBe(404);
    }
    for (const { paths } of PASSED)
      for (const path of paths) expect((await fetch(rig.gateway.url + path)).status).toBe(405);
    expect(rig.seen).toHaveLength(0);
  });
});

describe("who may ask what", () => {
  test("a key, a model, a body that is not too large", async () => {
    rig.answer((_seen, response) => sendJson(response, {}));
    expect((await rig.post("/tokenize", { model: "m" }, { headers: { authorization: "" } })).status).toBe(401);
    expect(await envelopeOf(await rig.post("/tokenize", {}))).toMatchObject({ status: 400, param: "model" });
    expect(await envelopeOf(await rig.post("/tokenize", "no"))).toMatchObject({ status: 400, code: "invalid_json" });
    expect(await envelopeOf(await rig.post("/tokenize", { model: "m", prompt: "x".repeat(3000) }))).toMatchObject({
      status: 413,
      code: "body_too_large",
    });
    expect(await envelopeOf(await rig.post("/tokenize", { model: "vllm/m", priority: 1 }))).toMatchObject({
      status: 400,
      param: "priority",
    });
    expect(rig.seen).toHaveLength(0);
  });

  test("moderations may leave the model out", async () => {
    rig.answer((_seen, response) =>
      sendJson(response, {
        id: "modr-1",
        model: "omni",
        results: [{ flagged: false, categories: {}, category_scores: {} }],
      }),
    );
    const { results } = await rig.client().moderations.create({ input: "hi" });
    expect(results[0]?.flagged).toBe(false);
    expect(rig.seen[0]?.body.toString()).toBe('{"input":"hi"}');
  });
});

describe("answers recorded from real servers", () => {
  const paths = ["/v1/rerank", "/v1/score", "/tokenize", "/detokenize"];
  const recorded = loadCaptures().filter(({ request }) => paths.includes(request.path) && request.method === "POST");

  test.each(recorded.map((exchange) => [`${exchange.server} ${exchange.name}`, exchange] as const))(
    "%s",
    async (_what, exchange) => {
      const { request, status, pieces, headers } = exchange;
      rig.answer(
        (_seen, response) =>
          void response.writeHead(status, { "content-type": headers["content-type"] ?? "" }).end(pieces.join("")),
      );
      const answer = await rig.post(request.path, { model: "m", ...(request.body as object) });
      const unauthorized = status === 401;
      if (status !== 200) expect((await envelopeOf(answer)).status).toBe(unauthorized ? 502 : status);
      else expect([answer.status, await answer.text()]).toEqual([200, pieces.join("")]);
    },
  );
});

describe("answers", () => {
  test.each<[string, string, (response: import("node:http").ServerResponse) => void, number, string | null]>([
    [
      "a 400",
      "/v1/rerank",
      (response) =>
        sendJson(
          response,
          { error: { message: "unknown voice", type: "invalid_request_error", param: "voice", code: null } },
          400,
        ),
      400,
      null,
    ],
    [
      "an error under 200",
      "/v1/rerank",
      (response) => sendJson(response, { object: "error", message: "no", code: 400 }),
      400,
      null,
    ],
    [
      "an error under 200 where sound is due",
      "/v1/audio/speech",
      (response) => sendJson(response, { error: { message: "no", code: 503 } }),
      503,
      "503",
    ],
    [
      "FastAPI's 404",
      "/v1/score",
      (response) => sendJson(response, { detail: "Not Found" }, 404),
      404,
      "endpoint_not_supported",
    ],
    [
      "HTML under 200",
      "/v1/rerank",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      502,
      "upstream_invalid",
    ],
    [
      "a redirect",
      "/v1/rerank",
      (response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
      502,
      "upstream_redirect",
    ],
    [
      "its own 401",
      "/v1/rerank",
      (response) => sendJson(response, { error: "Unauthorized" }, 401),
      502,
      "upstream_unauthorized",
    ],
    [
      "nothing",
      "/v1/rerank",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end(),
      502,
      "upstream_invalid",
    ],
    [
      "half an answer",
      "/v1/rerank",
      (response) => void response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
      502,
      "upstream_cut",
    ],
  ])("%s is an envelope", async (_what, path, script, status, code) => {
    rig.answer((_seen, response) => script(response));
    const told = await envelopeOf(await rig.post(path, { model: "m" }));
    expect(told).toMatchObject({ status, ...(code === "503" ? {} : { code }) });
    expect(told.message).not.toContain("10.0.0.1");
  });

  test("a silent upstream is given up", async () => {
    rig.answer((_seen, response) => void response.writeHead(200, { "content-type": "application/json" }).write("{"));
    expect(await envelopeOf(await rig.post("/v1/rerank", { model: "hasty/m" }))).toMatchObject({
      status: 504,
      code: "upstream_timeout",
    });
  });

  test("carry the requested name where the operator wants it so", async () => {
    const documents = [{ text: "x".repeat(100_000) }];
    rig.answer((_seen, response) =>
      sendJson(response, { id: "x", results: [{ index: 0, documents }], score: 1.5, model: "secret" }),
    );
    const answer = await rig.post("/v1/rerank", { model: "alias" });
    expect(await answer.json()).toEqual({ id: "x", results: [{ index: 0, documents }], score: 1.5, model: "alias" });
    rig.answer((_seen, response) =>
      sendJson(response, {
        id: "c",
        object: "text_completion",
        created: 1,
        model: "secret",
        choices: [{ index: 0, text: "a", logprobs: null, finish_reason: "stop" }],
      }),
    );
    for (const stream of [false, true]) {
      const text = await (await rig.post("/v1/completions", { model: "alias", prompt: "a", stream })).text();
      expect(text).toContain('"model":"alias"');
      expect(text).not.toContain("secret");
    }
    rig.answer((_seen, response) =>
      sendJson(response, {
        object: "list",
        model: "secret",
        data: [{ object: "embedding", index: 0, embedding: [1] }],
      }),
    );
    expect(await (await rig.post("/v1/embeddings", { model: "alias", input: "a" })).json()).toMatchObject({
      model: "alias",
    });
  });

  test("large ones pass in pieces", async () => {
    const data = Array.from({ length: 20 }, (_, i) => ({ b64_json: String(i).repeat(100_000) }));
    rig.answer((_seen, response) => sendJson(response, { created: 1, data }));
    const images = await rig.client().images.generate({ model: "m", prompt: "a" });
    expect(images.data).toEqual(data);
  });

  test("sound streams, and its content type stays", async () => {
    const sound = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 256));
    let more: (() => void) | undefined;
    rig.answer((_seen, response) => {
      response.writeHead(200, { "content-type": "audio/wav" }).write(sound.subarray(0, 1000));
      more = () => response.end(sound.subarray(1000));
    });
    const answer = await rig.client().audio.speech.create({ model: "m", voice: "v", input: "hi" });
    expect(answer.headers.get("content-type")).toBe("audio/wav");
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    const parts = [first?.value as Uint8Array];
    more?.();
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) parts.push(next.value);
    expect(Buffer.concat(parts).equals(sound)).toBe(true);
  });

  test("what breaks off does not look whole", async () => {
    rig.answer(
      (_seen, response) =>
        void response
          .writeHead(200, { "content-type": "audio/wav" })
          .write("abc", () => setTimeout(() => response.destroy(), 50)),
    );
    const answer = await rig.post("/v1/audio/speech", { model: "m" });
    await expect(answer.arrayBuffer()).rejects.toThrow();
    rig.answer(
      (_seen, response) =>
        void response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write("data: {}\n\n", () => setTimeout(() => response.destroy(), 50)),
    );
    const events = await (await rig.post("/v1/audio/speech", { model: "m" })).text();
    expect(events).toContain('"code":"upstream_cut"');
  });

  test("an error among events is told as ours are, and ends them", async () => {
    const tell = async (body: string): Promise<string> => {
      rig.answer((_seen, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(body));
      return (await rig.post("/v1/audio/speech", { model: "m" })).text();
    };
    const delta = 'data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n';
    expect(await tell(`: wait\r\n\r\nevent: x\ndata:{"type":"a"}\n\n${delta}data: [DONE]\n\n`)).toBe(
      `event: x\ndata: {"type":"a"}\n\n${delta}data: [DONE]\n\n`,
    );
    const fault = { error: { message: "no voice at http://10.0.0.1:9000/v1", type: "server_error", code: 500 } };
    const told = await tell(`${delta}data: ${JSON.stringify(fault)}\n\n${delta}data: [DONE]\n\n`);
    expect(told).toMatch(/^data: \{"type":"speech.audio.delta","audio":"AAAA"\}\n\ndata: \{"error":\{[^\n]*\}\}\n\n$/);
    expect(told).not.toContain("10.0.0.1");
    expect(JSON.parse(told.split("data: ")[2] as string)).toMatchObject({
      error: { message: expect.any(String), type: expect.any(String), param: null },
    });
  });

  test.each<[string, string, string | null, RegExp]>([
    ["a document", '{"error":{"message":"boom","type":"server_error"}}', null, /^$/],
    [
      "the last event, without its blank line",
      'data: {"type":"a"}\n\ndata: {"error":{"message":"boom"}}',
      null,
      /^data: {"type":"a"}\n\n$/,
    ],
    ["a field of its own", 'error: {"message":"boom","code":500}\n\n', null, /^$/],
    ["an event of that name", 'event: error\ndata: {"message":"boom"}\n\n', null, /^$/],
    ["half an event", 'data: {"type":"a"}\n\ndata: {"type":"b', "upstream_cut", /^data: {"type":"a"}\n\n$/],
  ])("an error among events that is %s", async (_what, body, code, before) => {
    rig.answer((_seen, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(body));
    const text = await (await rig.post("/v1/audio/speech", { model: "m" })).text();
    const at = text.lastIndexOf("data: ");
    expect(text.slice(0, at)).toMatch(before);
    const { error } = JSON.parse(text.slice(at + 6)) as { error: { message: string; code: string | null } };
    if (code === null) expect(error.message).toContain("boom");
    else expect(error.code).toBe(code);
  });

  test.each([
    'data: {"type":"transcript.text.done","text":"hi","errors":[]}',
    'data: {"type":"progress","message":"hi","detail":"x","error":null}',
    "data: plain text",
  ])("an event that is no error leaves as it came, also without its blank line: %s", async (event) => {
    for (const end of ["", "\n", "\n\n"]) {
      rig.answer(
        (_seen, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(event + end),
      );
      expect(await (await rig.post("/v1/audio/speech", { model: "m" })).text()).toBe(`${event}\n\n`);
    }
  });

  test("a document under the label of events is not lost", async () => {
    const body = '{"audio":"AAAA","format":"wav"}';
    rig.answer((_seen, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(body));
    expect(await (await rig.post("/v1/audio/speech", { model: "m" })).text()).toBe(body);
  });

  test("a client that leaves cancels the upstream", async () => {
    let gone = false;
    rig.answer((_seen, response) => {
      response.writeHead(200, { "content-type": "audio/wav" }).write("abc");
      response.on("close", () => (gone = true));
    });
    const leave = new AbortController();
    const answer = await rig.post("/v1/audio/speech", { model: "m" }, { signal: leave.signal });
    await answer.body?.getReader().read();
    leave.abort();
    await expect.poll(() => gone, { timeout: 10_000 }).toBe(true);
  });

  test("nothing of a body is in the log", async () => {
    rig.answer((_seen, response) => sendJson(response, { error: { message: "upstream-words" } }, 500));
    await rig.post("/v1/rerank", { model: "m", query: "client-words" });
    expect(rig.gateway.logs()).toContain("request_failed");
    for (const words of ["upstream-words", "client-words", KEY]) expect(rig.gateway.logs()).not.toContain(words);
  });
});
