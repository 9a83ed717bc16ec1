import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeVector } from "../../src/protocol/embeddings/vector.ts";
import { envelopeOf, sendJson, startRig, type Answer, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    small: { capabilities: { embedding_inputs: 3 } },
    vllm: { provider: "vllm" },
    stream: { prefer_stream: true },
  });
});
afterAll(() => rig.stop());

/** The embedding of a text is its length; sent as `format`, whatever was asked for. */
const measuring =
  (format: "float" | "base64"): Answer =>
  ({ json }, response) => {
    const inputs = Array.isArray(json["input"]) ? (json["input"] as unknown[]) : [json["input"]];
    const data = inputs.map((input, index) => {
      const vector = [String(input).length, 0.5];
      return { object: "embedding", index, embedding: format === "float" ? vector : encodeVector(vector) };
    });
    sendJson(response, {
      object: "list",
      data: data.toReversed(),
      model: "m",
      usage: { prompt_tokens: inputs.length, total_tokens: inputs.length },
    });
  };

describe.each(["float", "base64"] as const)("a server that sends %s", (format) => {
  test("is read by the client in both, and in its default", async () => {
    rig.answer(measuring(format));
    for (const asked of [{}, { encoding_format: "float" }, { encoding_format: "base64" }] as const) {
      const { data, usage } = await rig.client().embeddings.create({ model: "stream/m", input: ["a", "bb"], ...asked });
      const vectors = data.map(({ index, embedding }) => [
        index,
        typeof embedding === "string" ? embedding : [...embedding],
      ]);
      const expected =
        "encoding_format" in asked && asked.encoding_format === "base64"
          ? [encodeVector([1, 0.5]), encodeVector([2, 0.5])]
          : [
              [1, 0.5],
              [2, 0.5],
            ];
      expect(vectors).toEqual(expected.map((vector, index) => [index, vector]));
      expect(usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
    }
  });

  test("a batch larger than it takes is split, the order kept, the usage summed", async () => {
    rig.answer(
      (seen, response, request) =>
        void setTimeout(() => measuring(format)(seen, response, request), 60 / String(seen.json["input"]).length),
    );
    const input = Array.from({ length: 10 }, (_, i) => "x".repeat(i + 1));
    const { data, usage } = await rig
      .client()
      .embeddings.create({ model: "small/m", input, encoding_format: "float", dimensions: 2, user: "u" });
    expect(data.map(({ index, embedding }) => [index, embedding[0]])).toEqual(input.map((_, i) => [i, i + 1]));
    expect(usage).toEqual({ prompt_tokens: 10, total_tokens: 10 });
    expect(rig.seen).toHaveLength(4);
    for (const { json, path } of rig.seen) {
      expect(path).toBe("/v1/embeddings");
      expect(json).toMatchObject({ model: "small/m", encoding_format: "float", dimensions: 2, user: "u" });
    }
  });
});

describe("the upstream", () => {
  test("gets the body as it is", async () => {
    rig.answer(measuring("float"));
    const body = '{"input":[1,2],"model":"m","user":"u","dimensions":2.0}';
    await rig.post("/embeddings", body);
    expect(rig.seen[0]?.body.toString()).toBe(body);
    await rig.post("/v1/embeddings", { model: "renamed", input: "a" });
    expect(rig.seen[1]?.json["model"]).toBe("there");
  });

  test("fails one of a batch: all of it fails", async () => {
    rig.answer((seen, response, request) =>
      (seen.json["input"] as string[]).includes("bad")
        ? sendJson(
            response,
            { error: { message: "no", type: "invalid_request_error", param: "input", code: "bad_input" } },
            400,
          )
        : measuring("float")(seen, response, request),
    );
    const answer = await rig.post("/v1/embeddings", { model: "small/m", input: ["a", "b", "c", "d", "bad", "e", "f"] });
    expect(await envelopeOf(answer)).toMatchObject({ status: 400, code: "bad_input", message: "no" });
  });

  test.each<[string, Answer, number, string | null]>([
    [
      "an error under 200",
      (_seen, response) =>
        sendJson(response, {
          object: "error",
          message: "The model does not support Embeddings API",
          type: "BadRequestError",
          code: 400,
        }),
      400,
      null,
    ],
    [
      "too few embeddings",
      (_seen, response) =>
        sendJson(response, { object: "list", data: [{ object: "embedding", index: 0, embedding: [1] }] }),
      502,
      "upstream_invalid",
    ],
    ["HTML", (_seen, response) => void response.end("<html>"), 502, "upstream_invalid"],
    ["not found", (_seen, response) => sendJson(response, { detail: "Not Found" }, 404), 404, "endpoint_not_supported"],
    [
      "its own 401",
      (_seen, response) => sendJson(response, { error: "Unauthorized" }, 401),
      502,
      "upstream_unauthorized",
    ],
  ])("%s", async (_what, script, status, code) => {
    rig.answer(script);
    expect(await envelopeOf(await rig.post("/v1/embeddings", { model: "m", input: ["a", "b"] }))).toMatchObject({
      status,
      code,
    });
  });
});

test("what is wrong in itself is told before any upstream is asked", async () => {
  rig.answer(measuring("float"));
  expect(await envelopeOf(await rig.post("/v1/embeddings", { model: "m" }))).toMatchObject({
    status: 400,
    param: "input",
  });
  expect(
    await envelopeOf(await rig.post("/v1/embeddings", { model: "m", input: "a", encoding_format: "bytes" })),
  ).toMatchObject({ status: 400, param: "encoding_format" });
  expect(
    await envelopeOf(await rig.post("/v1/embeddings", { model: "vllm/m", input: "a", priority: 3 })),
  ).toMatchObject({ status: 400, param: "priority" });
  expect(rig.seen).toHaveLength(0);
});
