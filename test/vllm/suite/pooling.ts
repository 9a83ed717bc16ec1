import { describe, expect, test } from "vitest";
import { askPath, newClient, ownAnswer, viaGateway } from "../client.ts";

const model = viaGateway ? "embed" : "tiny";

type Json = Readonly<Record<string, unknown>>;

/** What differs from one answer to the next of the same request. */
function timeless({ id: _id, created: _created, ...rest }: Json): Json {
  return rest;
}

interface Embeddings {
  readonly model: string;
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly usage: Json;
}

async function own(body: Json): Promise<Embeddings> {
  const response = await ownAnswer("pooling", "/v1/embeddings", { model: "tiny", ...body });
  expect(response.status).toBe(200);
  return (await response.json()) as Embeddings;
}

async function ours(asked: string, body: Json): Promise<Embeddings> {
  const response = await askPath("pooling", "/v1/embeddings", { model: asked, ...body });
  expect(response.status).toBe(200);
  return (await response.json()) as Embeddings;
}

/** Numbers alike to what a float keeps: a batch of another size may be added up in another order. */
function expectAlike(got: Embeddings, wanted: Embeddings): void {
  expect(got.data.map(({ index }) => index)).toEqual(wanted.data.map(({ index }) => index));
  expect(got.usage).toMatchObject({ prompt_tokens: wanted.usage["prompt_tokens"] });
  for (const [i, { embedding }] of wanted.data.entries()) {
    const [a, b] = [floats(got.data[i]?.embedding), floats(embedding)];
    expect(a).toHaveLength(b.length);
    for (const [j, number] of b.entries()) expect(a[j]).toBeCloseTo(number, 2);
  }
}

function floats(embedding: readonly number[] | string | undefined): readonly number[] {
  if (typeof embedding !== "string") return embedding ?? [];
  const bytes = Buffer.from(embedding, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

describe("embeddings", () => {
  test.each([
    ["a text", "hi"],
    ["texts", ["hi", "you", "日本 🙂"]],
    ["token ids", [71, 72]],
    ["lists of token ids", [[71, 72], [73]]],
  ])("%s, by the client: base64 on the wire", async (_, input) => {
    const answer = await newClient("pooling").embeddings.create({ model, input });
    expectAlike(answer as unknown as Embeddings, await own({ input }));
    expect(answer.data[0]?.embedding).toHaveLength(64);
    expect(answer.model).toBe("tiny");
  });

  test.each([
    ["float", "number"],
    ["base64", "string"],
  ])("%s as asked", async (encoding_format, type) => {
    const body = { input: ["hi", "you"], encoding_format };
    const answer = await ours(model, body);
    expectAlike(answer, await own(body));
    const [first] = answer.data;
    expect(typeof (encoding_format === "float" ? first?.embedding[0] : first?.embedding)).toBe(type);
  });

  test("without a format: numbers, as OpenAI has it", async () => {
    const answer = await ours(model, { input: "hi" });
    expect(Array.isArray(answer.data[0]?.embedding)).toBe(true);
  });

  test.runIf(viaGateway).each([
    ["texts", ["one", "two", "three", "four", "five"]],
    ["lists of token ids", [[71], [72, 73], [74]]],
  ])("%s, two at a time: all of them, in their order, counted together", async (_, input) => {
    for (const encoding_format of ["float", "base64"]) {
      const body = { input, encoding_format };
      expectAlike(await ours("embed-pairs", body), await own(body));
    }
  });

  test("dimensions that the model does not have are refused", async () => {
    const response = await askPath("pooling", "/v1/embeddings", { model, input: "hi", dimensions: 8 });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/dimensions/);
  });

  test.runIf(viaGateway).each([
    ["no text", { input: [] }, 400, "input"],
    ["no input", {}, 400, "input"],
    ["an unknown format", { input: "hi", encoding_format: "hex" }, 400, "encoding_format"],
  ])("%s", async (_, body, status, param) => {
    const response = await askPath("pooling", "/v1/embeddings", { model, ...body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test("a text longer than the context", async () => {
    const response = await askPath("pooling", "/v1/embeddings", { model, input: "x".repeat(2_100) });
    expect(response.status).toBe(400);
    if (viaGateway) expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
  });

  test.runIf(viaGateway)("of a piece that is refused, all is refused", async () => {
    const input = ["a", "b", "c", "x".repeat(2_100)];
    const response = await askPath("pooling", "/v1/embeddings", { model: "embed-pairs", input });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
  });
});

describe.runIf(viaGateway)("endpoints that pass: the server's own answer", () => {
  const scored = { queries: "a", documents: ["b", "c"] };
  const ranked = { query: "a", documents: ["b", "c", "a"] };
  test.each([
    ["/v1/score", scored],
    ["/score", scored],
    ["/v1/score", { text_1: ["a", "b"], text_2: ["c", "d"] }],
    ["/v1/rerank", ranked],
    ["/v1/rerank", { ...ranked, top_n: 1 }],
    ["/v2/rerank", ranked],
    ["/rerank", ranked],
    ["/tokenize", { prompt: "hi 日本", return_token_strs: true }],
    ["/detokenize", { tokens: [71, 72, 220] }],
  ])("%s %o", async (path, body) => {
    const response = await askPath("pooling", path, { model, ...body });
    const theirs = await ownAnswer("pooling", path, { model: "tiny", ...body });
    expect([response.status, theirs.status]).toEqual([200, 200]);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(timeless((await response.json()) as Json)).toEqual(timeless((await theirs.json()) as Json));
  });

  test("tokens of a chat, counted by a server that chats", async () => {
    const body = { messages: [{ role: "user", content: "hi" }] };
    const response = await askPath("parsers", "/tokenize", { model: "tiny", ...body });
    const theirs = await ownAnswer("parsers", "/tokenize", { model: "tiny", ...body });
    expect(await response.json()).toEqual(await theirs.json());
  });

  test.each([
    ["/v1/rerank", { query: "a" }],
    ["/v1/score", { queries: "a" }],
    ["/tokenize", {}],
    ["/detokenize", { tokens: "no" }],
  ])("%s, a request that the server refuses: its status, our form", async (path, body) => {
    const response = await askPath("pooling", path, { model, ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  });

  test.each([
    ["/v1/chat/completions", "embed", { messages: [{ role: "user", content: "hi" }] }],
    ["/v1/completions", "embed", { prompt: "hi" }],
    ["/v1/embeddings", "tiny", { input: "hi" }],
    ["/v1/score", "tiny", scored],
    ["/v1/rerank", "tiny", ranked],
  ])("%s of a model that cannot (%s): an error, not the server's own page", async (path, asked, body) => {
    const response = await askPath(asked === "tiny" ? "parsers" : "pooling", path, { model: asked, ...body });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(/./), type: expect.stringMatching(/./) },
    });
  });

  test("a path that is not listed never reaches the server", async () => {
    for (const path of ["/pooling", "/classify", "/metrics", "/v1/load_lora_adapter"]) {
      const response = await askPath("pooling", path, { model, input: "hi" });
      expect(response.status).toBe(404);
    }
  });
});
