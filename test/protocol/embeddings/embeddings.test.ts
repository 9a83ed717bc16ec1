import { describe, expect, it } from "vitest";
import { conformEmbeddings, joinedEmbeddings, type VectorShape } from "../../../src/protocol/embeddings/answer.ts";
import { parseEmbeddingsRequest, splitInputs } from "../../../src/protocol/embeddings/request.ts";
import { decodeVector, encodeVector } from "../../../src/protocol/embeddings/vector.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { loadCaptures } from "../../fixtures/captures.ts";
import { identity } from "../completions/through.ts";

const PAIR = "AAAAPwAAgL8=";
const USAGE = { prompt_tokens: 1, total_tokens: 1 };
const item = (embedding: unknown, index: unknown = 0): object => ({ object: "embedding", index, embedding });
const body = (...data: unknown[]): object => ({ object: "list", data, model: "m", usage: USAGE });
const conform = (value: unknown, shape: Partial<VectorShape> = {}): ReturnType<typeof conformEmbeddings> =>
  conformEmbeddings(
    typeof value === "string" ? value : JSON.stringify(value),
    { format: "float", count: undefined, ...shape },
    identity(),
  );
const bodyOf = (result: ReturnType<typeof conformEmbeddings>): JsonObject => {
  if (!result.ok) throw new Error(result.error.error.error.message);
  return JSON.parse(result.value.text) as JsonObject;
};

describe("vectors", () => {
  it("are little-endian float32", () => {
    expect(encodeVector([0.5, -1])).toBe(PAIR);
    expect(decodeVector(PAIR)).toEqual([0.5, -1]);
  });

  it("come back the same, also long ones", () => {
    const numbers = Array.from({ length: 20_000 }, (_, i) => Math.fround(Math.sin(i)));
    expect(decodeVector(encodeVector(numbers) ?? "")).toEqual(numbers);
  });

  it("are refused where they are none", () => {
    for (const text of ["", "AAA=", "?", "AADAfw=="]) expect(decodeVector(text)).toBeUndefined();
    for (const list of [[null], ["1"], [Number.NaN], [[1]]]) expect(encodeVector(list)).toBeUndefined();
  });
});

describe("an answer", () => {
  it("leaves as it came if it is clean", () => {
    for (const format of ["float", "base64"] as const) {
      const text = ` ${JSON.stringify(body(item(format === "float" ? [0.5, -1] : PAIR)))}`;
      expect(conform(text, { format, count: 1 })).toMatchObject({ ok: true, value: { text } });
    }
  });

  it.each<[string, object, Partial<VectorShape>, object]>([
    ["numbers for base64", body(item([0.5, -1])), { format: "base64" }, { data: [item(PAIR)] }],
    ["base64 for numbers", body(item(PAIR)), {}, { data: [item([0.5, -1])] }],
    ["the order", body(item([2], 1), item([1], 0)), {}, { data: [item([1], 0), item([2], 1)] }],
    ["no indexes", body({ embedding: [1] }, { embedding: [2] }), {}, { data: [item([1], 0), item([2], 1)] }],
    ["indexes that all are 0", body(item([1]), item([2])), {}, { data: [item([1], 0), item([2], 1)] }],
    ["no object, no model", { data: [item([1])] }, {}, { object: "list", model: "asked-model" }],
    [
      "half a usage",
      { ...body(item([1])), usage: { total_tokens: 4 } },
      {},
      { usage: { prompt_tokens: 4, total_tokens: 4 } },
    ],
  ])("is repaired: %s", (_what, value, shape, expected) =>
    expect(bodyOf(conform(value, shape))).toMatchObject(expected),
  );

  it.each<[string, unknown, Partial<VectorShape>, string | null]>([
    ["nothing", "", {}, "upstream_invalid"],
    ["no data", { object: "list", data: [] }, {}, "upstream_invalid"],
    ["too few", body(item([1])), { count: 2 }, "upstream_invalid"],
    ["no numbers", body(item(["a"])), {}, "upstream_invalid"],
    ["an empty vector", body(item([])), {}, "upstream_invalid"],
    [
      "NaN",
      '{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[NaN]}]}',
      {},
      "upstream_invalid",
    ],
    ["an error under 200", { object: "error", message: "no", code: 400 }, {}, null],
  ])("is a failure: %s", (_what, value, shape, code) =>
    expect(conform(value, shape)).toMatchObject({ ok: false, error: { error: { error: { code } } } }),
  );

  it("joins the pieces of a batch", () => {
    const joined = joinedEmbeddings([body(item([1]), item([2], 1)), body(item([3]))] as JsonObject[]);
    expect(joined).toMatchObject({
      data: [item([1], 0), item([2], 1), item([3], 2)],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    });
  });
});

describe("a request", () => {
  const parse = (members: object): ReturnType<typeof parseEmbeddingsRequest> =>
    parseEmbeddingsRequest(JSON.stringify({ model: "m", input: "hi", ...members }));

  it.each<[string, object, number | undefined]>([
    ["a text", {}, 1],
    ["texts", { input: ["a", "b"] }, 2],
    ["token ids", { input: [1, 2] }, 1],
    ["lists of token ids", { input: [[1, 2], [3]] }, 2],
    ["messages", { input: undefined, messages: [] }, undefined],
  ])("%s", (_what, members, count) => {
    const parsed = parse(members);
    expect(parsed.ok && parsed.value.inputs?.length).toBe(count);
  });

  it.each<[string, object, string]>([
    ["no input", { input: undefined }, "input"],
    ["an empty list", { input: [] }, "input"],
    ["a number", { input: 5 }, "input"],
    ["an unknown format", { encoding_format: "hex" }, "encoding_format"],
    ["no model", { model: null }, "model"],
  ])("%s is a 400 that names it", (_what, members, param) =>
    expect(parse(members)).toMatchObject({ ok: false, error: { status: 400, error: { param } } }),
  );

  it("is split, and all the rest of it goes along as it stands", () => {
    const text = '{"model":"m","input":["a","b","c"],"dimensions":8.0,"user":"u"}';
    expect(splitInputs(text, ["a", "b", "c"], 3)).toEqual([text]);
    expect(splitInputs(text, ["a", "b", "c"], 2)).toEqual([
      '{"model":"m","input":["a","b"],"dimensions":8.0,"user":"u"}',
      '{"model":"m","input":["c"],"dimensions":8.0,"user":"u"}',
    ]);
  });
});

describe("answers recorded from a real server", () => {
  const captures = loadCaptures().filter(({ request }) => request.path === "/v1/embeddings");

  it("leave as they came where the client asked for what they are, and say the same in the other format", () => {
    const answers = captures.filter(({ server, status }) => server.includes("embeddings") && status === 200);
    expect(answers.length).toBeGreaterThan(4);
    for (const { name, request, pieces } of answers) {
      const text = pieces.join("");
      const parsed = parseEmbeddingsRequest(JSON.stringify(request.body));
      if (!parsed.ok) throw new Error(name);
      const { format, inputs } = parsed.value;
      const count = inputs?.length;
      expect(conform(text, { format, count }), name).toMatchObject({ ok: true, value: { text } });
      const other = conform(text, { format: format === "float" ? "base64" : "float", count });
      const back = conform(other.ok ? other.value.text : "", { format, count });
      expect(JSON.stringify(bodyOf(back)["data"]), name).toBe(JSON.stringify((JSON.parse(text) as JsonObject)["data"]));
    }
  });

  it("an error under 200 is an error", () => {
    const refused = captures.filter(({ server, status }) => server.includes("0.11") && status === 200);
    expect(refused).toHaveLength(1);
    for (const { pieces } of refused)
      expect(conform(pieces.join(""))).toMatchObject({ ok: false, error: { error: { status: 400 } } });
  });
});
