// Every exchange recorded from real servers goes through the protocol core: decode, conform, aggregate, reframe and back.
import { describe, expect, test } from "vitest";
import { conformCompletion } from "../../src/protocol/chat/completion.ts";
import { failureFromBody, isErrorBody } from "../../src/protocol/chat/part.ts";
import { reframe } from "../../src/protocol/chat/reframe.ts";
import { parseChatRequest } from "../../src/protocol/chat/request.ts";
import type { AnswerShape } from "../../src/protocol/chat/types.ts";
import type { JsonObject } from "../../src/protocol/json/lossless.ts";
import { createSseDecoder, type EventVisitor } from "../../src/protocol/sse/decode.ts";
import { DONE, encodeEvent } from "../../src/protocol/sse/encode.ts";
import { bytesOf, isEventStream, loadCaptures, type Exchange } from "../fixtures/captures.ts";
import { fixedIdentity, gatherThrough, streamThrough } from "./core.ts";
import { parseEventStream } from "./event-stream.ts";
import { at, isObject } from "./json.ts";
import type { LogicalAnswer } from "./logical-answer.ts";
import { faultOfError, readCompletion, readStream } from "./strict.ts";

const captures = loadCaptures();
const isChat = ({ request }: Exchange): boolean =>
  request.method === "POST" && request.path.split("?", 1)[0] === "/v1/chat/completions";
const named = (list: readonly Exchange[]): (readonly [string, Exchange])[] =>
  list.map((exchange) => [`${exchange.server} ${exchange.name}`, exchange] as const);

function shapeOf({ request }: Exchange): AnswerShape {
  const parsed = parseChatRequest(JSON.stringify(request.body));
  // Some recorded requests are wrong on purpose; their answers have the plain shape.
  return parsed.ok ? parsed.value.shape : { n: 1, toolNames: [], namedTool: false, includeUsage: false };
}

const readsOf = (exchange: Exchange): Uint8Array[] => exchange.pieces.map((piece) => new TextEncoder().encode(piece));
const encoded = (chunks: readonly JsonObject[]): Uint8Array =>
  Buffer.from(chunks.map((chunk) => encodeEvent(JSON.stringify(chunk))).join("") + encodeEvent(DONE));

/** The value that a client reads; a stream leaves a null out where a whole answer spells it. */
const asRead = (value: unknown): unknown => withoutNulls(JSON.parse(JSON.stringify(value)));

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)]));
}

/** From a whole answer to a stream, and back: strictly right in between, and the same answer at the end. */
function expectRoundTrip(body: JsonObject, shape: AnswerShape): void {
  const streamed = encoded(reframe(body, { includeUsage: true }));
  expect(readStream(streamed, { includeUsage: true }).problems).toEqual([]);
  const again = gatherThrough([streamed], { ...shape, includeUsage: true });
  expect("body" in again && asRead(again.body)).toEqual(asRead(body));
}

describe("event streams", () => {
  const streams = captures.filter(isEventStream);

  test("the decoder sees the events that are there", () => {
    for (const exchange of streams) {
      const decoder = createSseDecoder(64 * 1024 * 1024);
      const all: string[] = [];
      const visitor: EventVisitor = {
        text: () => undefined,
        event: ({ data }) => void all.push(data),
        known: (_, at) => at,
      };
      for (const bytes of readsOf(exchange)) decoder.visit(bytes, visitor);
      decoder.flush(visitor);
      expect(all, exchange.name).toEqual(parseEventStream(bytesOf(exchange)).events.map((event) => event.data));
    }
  });

  test.each(named(streams.filter(isChat)))("%s", (_, exchange) => {
    const shape = shapeOf(exchange);
    const reading = readStream(streamThrough(readsOf(exchange), shape), { includeUsage: shape.includeUsage });
    expect(reading.problems).toEqual([]);
    const gathered = gatherThrough(readsOf(exchange), shape);
    if ("failure" in gathered) {
      expect(reading.error).toEqual(gathered.failure.error.error);
      return;
    }
    expect(reading.ended).toBe(true);
    const whole = readCompletion(Buffer.from(JSON.stringify(gathered.body)));
    expect(whole.problems).toEqual([]);
    const said = (answer: LogicalAnswer): unknown =>
      asRead(answer.choices.map((choice) => ({ ...choice, content: choice.content ?? "" })));
    expect(said(whole.answer)).toEqual(said(reading.answer));
    expectRoundTrip(gathered.body, shape);
  });
});

describe("whole answers", () => {
  const whole = captures.filter((exchange) => isChat(exchange) && exchange.status === 200 && !isEventStream(exchange));
  const answers = whole.filter((exchange) => !isErrorBody(JSON.parse(exchange.pieces.join("")) as JsonObject));

  test.each(named(answers))("%s", (_, exchange) => {
    const shape = shapeOf(exchange);
    const conformed = conformCompletion(exchange.pieces.join(""), shape, fixedIdentity());
    if (!conformed.ok) throw new Error(conformed.error.error.error.message);
    const { body, text } = conformed.value;
    expect(readCompletion(Buffer.from(text)).problems).toEqual([]);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(body)));
    expectRoundTrip(body, shape);
  });
});

describe("errors", () => {
  const errors = captures.filter((exchange) => isChat(exchange) && exchange.status >= 400);

  test.each(named(errors))("%s", (_, exchange) => {
    const { error } = failureFromBody(exchange.status, exchange.pieces.join(""));
    expect(faultOfError(error.error)).toBeUndefined();
    expect(error.error.message).not.toBe("");
    expect(error.status).toBeGreaterThanOrEqual(400);
  });
});

/** How many of an upstream's chunks leave with the bytes they came with. */
function unchangedShare(exchanges: readonly Exchange[]): { chunks: number; unchanged: number } {
  let chunks = 0;
  let unchanged = 0;
  for (const exchange of exchanges) {
    const given = parseEventStream(bytesOf(exchange)).events.map((event) => event.data);
    const left = new Set(
      parseEventStream(streamThrough(readsOf(exchange), shapeOf(exchange))).events.map((e) => e.data),
    );
    for (const data of given) {
      if (data === DONE || at(JSON.parse(data), "error") !== undefined) continue;
      chunks++;
      if (left.has(data)) unchanged++;
    }
  }
  return { chunks, unchanged };
}

describe("chunks that leave byte for byte", () => {
  const streams = captures.filter((exchange) => isChat(exchange) && isEventStream(exchange));
  // Usage on every chunk, and a null in every delta: these may not reach a client as they are.
  const unfit = (body: unknown): boolean =>
    at(at(body, "stream_options"), "continuous_usage_stats") === true || at(body, "include_reasoning") === false;
  const shareOf = (server: string): number => {
    const fit = streams.filter((exchange) => exchange.server.startsWith(server) && !unfit(exchange.request.body));
    const { chunks, unchanged } = unchangedShare(fit);
    expect(chunks).toBeGreaterThan(500);
    return unchanged / chunks;
  };

  // A delta that could begin a special token waits for the next one.
  test("vLLM 0.32: all, but for a delta that is a lone `<`", () => expect(shareOf("vllm-0.32")).toBeGreaterThan(0.99));
  test("llama.cpp: nearly all", () => expect(shareOf("llama.cpp")).toBeGreaterThan(0.98));
  test("vLLM 0.11, with its nulls in tool calls: most", () => expect(shareOf("vllm-0.11")).toBeGreaterThan(0.75));
});
