import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conformCompletion } from "../../../src/protocol/chat/completion.ts";
import { reframe } from "../../../src/protocol/chat/reframe.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { anyCuts, anyLineEnd, bytesOf, bytewise, cutAt } from "../sse/cut.ts";
import { gather } from "./gathered.ts";
import { identity, SHAPE, stream } from "./streamed.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("😀", "\u2028é", "[DONE]", "data: x\n\n", '"\\'),
);
const filled = anyText.filter((text) => text !== "");
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const token = fc.record({
  token: anyText,
  logprob: fc.integer({ min: -20, max: 0 }),
  bytes: fc.constant(null),
  top_logprobs: fc.constant([]),
});
const tokens = fc.array(token, { minLength: 1, maxLength: 4 });
const args = fc.oneof(fc.constant("{}"), fc.json({ stringUnit: "binary" }), filled);
const call = fc.oneof(
  fc.record({
    type: fc.constant("function" as const),
    function: fc.record({ name: fc.constantFrom("f", "get", "get_time"), arguments: args }),
  }),
  fc.record({ type: fc.constant("custom" as const), custom: fc.record({ name: fc.constant("sh"), input: filled }) }),
);

interface Parts {
  readonly content: string | undefined;
  readonly refusal: string | undefined;
  readonly reasoning: string | undefined;
  readonly both: boolean;
  readonly calls: readonly object[];
  readonly functionCall: string | undefined;
  readonly annotations: readonly object[] | undefined;
  readonly audio: object | undefined;
  readonly contentTokens: readonly object[] | undefined;
  readonly refusalTokens: readonly object[] | undefined;
  readonly finish: "stop" | "length" | "content_filter";
  readonly stop: string | number | undefined;
}
const parts: fc.Arbitrary<Parts> = fc.record({
  content: maybe(filled),
  refusal: maybe(filled),
  reasoning: maybe(filled),
  both: fc.boolean(),
  calls: fc.array(call, { maxLength: 3 }),
  functionCall: maybe(args),
  annotations: maybe(fc.array(fc.record({ type: fc.constant("url_citation") }), { minLength: 1, maxLength: 2 })),
  audio: maybe(
    fc.record({ id: fc.constant("a"), data: fc.constant("QQ=="), transcript: filled, expires_at: fc.nat() }),
  ),
  contentTokens: maybe(tokens),
  refusalTokens: maybe(tokens),
  finish: fc.constantFrom("stop", "length", "content_filter"),
  stop: maybe(fc.oneof(fc.nat(), fc.constant("x"))),
});

/** A whole choice that holds to the contract. */
function choiceOf(p: Parts, index: number): JsonObject {
  const isCall = p.calls.length > 0;
  const functionCall = isCall ? undefined : p.functionCall;
  const silent = isCall || functionCall !== undefined || p.refusal !== undefined || p.audio !== undefined;
  const message = {
    role: "assistant",
    content: p.content ?? (silent ? null : ""),
    refusal: p.refusal ?? null,
    ...(p.reasoning === undefined
      ? {}
      : p.both
        ? { reasoning: p.reasoning, reasoning_content: p.reasoning }
        : { reasoning: p.reasoning }),
    ...(isCall ? { tool_calls: p.calls.map((one, i) => ({ id: `call_${i}`, ...one })) } : {}),
    ...(functionCall === undefined ? {} : { function_call: { name: "f", arguments: functionCall } }),
    ...(p.annotations === undefined ? {} : { annotations: p.annotations }),
    ...(p.audio === undefined ? {} : { audio: p.audio }),
  };
  const hasTokens = p.contentTokens !== undefined || p.refusalTokens !== undefined;
  const finish =
    p.finish === "stop" ? (isCall ? "tool_calls" : functionCall === undefined ? "stop" : "function_call") : p.finish;
  return {
    index,
    message,
    logprobs: hasTokens ? { content: p.contentTokens ?? null, refusal: p.refusalTokens ?? null } : null,
    finish_reason: finish,
    ...(p.stop === undefined ? {} : { stop_reason: p.stop }),
  };
}

const completion: fc.Arbitrary<JsonObject> = fc
  .record({
    choices: fc.array(parts, { minLength: 1, maxLength: 3 }),
    fingerprint: maybe(fc.constant("fp")),
    tier: maybe(fc.constant("default")),
    vendor: maybe(fc.jsonValue().filter((value) => value !== null)),
    usage: fc.boolean(),
  })
  .map(({ choices, fingerprint, tier, vendor, usage }) => ({
    id: "chatcmpl-u",
    object: "chat.completion",
    created: 5,
    model: "m",
    choices: choices.map(choiceOf),
    ...(fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(vendor === undefined ? {} : { vendor }),
    ...(usage ? { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } } : {}),
  }));

const shapeOf = (answer: JsonObject): typeof SHAPE => ({
  ...SHAPE,
  n: (answer["choices"] as unknown[]).length,
  includeUsage: true,
  toolNames: ["f", "get", "get_time", "sh"],
});
const framed = (answer: JsonObject, end: string, pieceLength: number): string =>
  [...reframe(answer, { includeUsage: true, pieceLength }).map((chunk) => JSON.stringify(chunk)), "[DONE]"]
    .map((data) => `data: ${data}${end}${end}`)
    .join("");
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("aggregate(decode(split(encode(reframe(x)))))", () => {
  it("is x, for every split, line end and n", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(completion, anyLineEnd, anyCuts, fc.integer({ min: 1, max: 8 }), (answer, end, cuts, pieceLength) => {
        const text = framed(answer, end, pieceLength);
        expect(gather(text, shapeOf(answer), (bytes) => cutAt(bytes, cuts))).toEqual(plain(answer));
      }),
      { numRuns: 600 },
    );
  });

  it("is x, byte by byte", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(completion, anyLineEnd, (answer, end) => {
        expect(gather(framed(answer, end, 3), shapeOf(answer), bytewise)).toEqual(plain(answer));
      }),
      { numRuns: 60 },
    );
  });

  it("is x through the stream that a client reads, too", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(completion, anyLineEnd, anyCuts, (answer, end, cuts) => {
        const shape = shapeOf(answer);
        const out = stream(framed(answer, end, 4), { shape, cut: (bytes) => cutAt(bytes, cuts) });
        expect(out.done).toBe(true);
        expect(gather(out.text, shape)).toEqual(plain(answer));
      }),
      { numRuns: 400 },
    );
  });

  it("such an x passes as a whole answer, too, as it came", () => {
    fc.assert(
      fc.property(completion, (answer) => {
        const text = JSON.stringify(answer);
        const result = conformCompletion(text, shapeOf(answer), identity());
        expect(result.ok ? result.value.text : result.error.error.error.message).toBe(text);
      }),
      { numRuns: 400 },
    );
  });
});

describe("conform", () => {
  it("leaves its own output alone, byte for byte", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(completion, anyCuts, fc.integer({ min: 1, max: 5 }), (answer, cuts, pieceLength) => {
        const shape = shapeOf(answer);
        const once = stream(framed(answer, "\n", pieceLength), { shape });
        expect(once.done).toBe(true);
        expect(stream(once.text, { shape }).text).toBe(once.text);
        expect(stream(once.text, { shape, cut: (bytes) => cutAt(bytes, cuts) }).text).toBe(once.text);
      }),
      { numRuns: 400 },
    );
  });

  /** What upstreams get wrong, at random: roles, nulls, indexes, finishes in the wrong place. */
  const oddDelta = fc.record(
    {
      role: fc.constantFrom("assistant", "", null),
      content: fc.oneof(fc.constantFrom(null, 5, ""), anyText),
      reasoning: fc.constantFrom(null, "r"),
      refusal: fc.constantFrom(null, ""),
      tool_calls: fc.constantFrom(
        null,
        [],
        [{ index: 0, id: "c", function: { name: "f", arguments: "[1]" } }],
        [{ index: 1, id: "d", function: { name: "g", arguments: null } }],
      ),
    },
    { requiredKeys: [] },
  );
  const oddChunk = fc.record(
    {
      id: fc.constantFrom("a", "b", "", null),
      object: fc.constant("chat.completion.chunk"),
      created: fc.constantFrom(5, 6.5, null),
      model: fc.constantFrom("m", "n"),
      choices: fc.array(
        fc.record(
          {
            index: fc.constantFrom(0, 0, 1, null),
            delta: fc.oneof(oddDelta, fc.constant(null)),
            finish_reason: fc.constantFrom(null, null, "", "stop", "eos", "length"),
          },
          { requiredKeys: ["delta"] },
        ),
        { maxLength: 2 },
      ),
      usage: fc.constantFrom(null, { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }),
    },
    { requiredKeys: ["choices"] },
  );

  it("makes of any chunks a stream that it leaves alone, the same for every split", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(fc.array(oddChunk, { maxLength: 8 }), anyCuts, fc.boolean(), (chunks, cuts, includeUsage) => {
        const shape = { ...SHAPE, n: 2, includeUsage };
        const text = [
          ...chunks.map((chunk) => JSON.stringify(chunk)),
          JSON.stringify({ choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: "stop" })) }),
          "[DONE]",
        ]
          .map((data) => `data: ${data}\n\n`)
          .join("");
        const once = stream(text, { shape });
        expect(once.done).toBe(true);
        expect(stream(text, { shape, cut: (bytes) => cutAt(bytes, cuts) }).text).toBe(once.text);
        expect(stream(once.text, { shape }).text).toBe(once.text);
        expect(bytesOf(once.text).length).toBeGreaterThan(0);
      }),
      { numRuns: 800 },
    );
  });
});
