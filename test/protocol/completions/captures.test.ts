// Every text completion recorded from real servers goes through the protocol core, whole and streamed.
import { describe, expect, test } from "vitest";
import { conformTextCompletion } from "../../../src/protocol/completions/completion.ts";
import { textForm } from "../../../src/protocol/completions/form.ts";
import { parseTextRequest } from "../../../src/protocol/completions/request.ts";
import type { TextShape } from "../../../src/protocol/completions/types.ts";
import type { LogicalAnswer } from "../../conformance/logical-answer.ts";
import { readCompletion, readStream } from "../../conformance/strict.ts";
import { isEventStream, loadCaptures, type Exchange } from "../../fixtures/captures.ts";
import { bytewise, cutAt } from "../sse/cut.ts";
import { gatherOf, identity, ONE, streamed } from "./through.ts";

const captures = loadCaptures().filter(({ request }) => request.path === "/v1/completions");
const named = (list: readonly Exchange[]): (readonly [string, Exchange])[] =>
  list.map((exchange) => [`${exchange.server} ${exchange.name}`, exchange] as const);

function shapeOf({ request }: Exchange): TextShape {
  const parsed = parseTextRequest(JSON.stringify(request.body));
  return parsed.ok ? parsed.value.shape : ONE;
}

/** Without `top_logprobs`: JSON.parse of V8 14 reads the key `"` as `\\` behind an object that had that key, so it cannot be compared by it. */
const comparable = ({ choices }: LogicalAnswer): unknown =>
  choices.map((choice) => ({
    ...choice,
    logprobs: choice.logprobs === null ? null : { ...choice.logprobs, top_logprobs: [] },
  }));

const streams = captures.filter(isEventStream);
const whole = captures.filter((exchange) => exchange.status === 200 && !isEventStream(exchange));

test("there are some of each", () => {
  expect(streams.length).toBeGreaterThan(20);
  expect(whole.length).toBeGreaterThan(20);
});

describe("streams", () => {
  test.each(named(streams))("%s", (_, exchange) => {
    const shape = shapeOf(exchange);
    const text = exchange.pieces.join("");
    const form = textForm(shape);
    const out = streamed(form.stream(identity()), [Buffer.from(text)]);
    expect(
      streamed(
        form.stream(identity()),
        text.length < 20_000 ? bytewise(Buffer.from(text)) : cutAt(Buffer.from(text), [7, 4099, 20_011]),
      ),
    ).toBe(out);
    const reading = readStream(Buffer.from(out), { legacy: true, includeUsage: shape.includeUsage });
    expect(reading.problems).toEqual([]);
    const gathered = gatherOf(text, shape);
    if (typeof gathered !== "object" || gathered === null) {
      expect(reading.error).toMatchObject({ code: gathered });
      return;
    }
    expect(reading.ended).toBe(true);
    const completion = readCompletion(Buffer.from(JSON.stringify(gathered)), { legacy: true });
    expect(completion.problems).toEqual([]);
    expect(comparable(completion.answer)).toEqual(comparable(reading.answer));
    expect(completion.answer.choices.map(({ index }) => index)).toEqual([...Array(shape.choices).keys()]);
    const again = readStream(Buffer.from(form.reframed({ body: gathered, text: "" })), {
      legacy: true,
      includeUsage: shape.includeUsage,
    });
    expect(again.problems).toEqual([]);
    expect(comparable(again.answer)).toEqual(comparable(reading.answer));
  });

  test("nearly all of what vLLM sends leaves byte for byte", () => {
    for (const exchange of streams.filter(({ server }) => server.startsWith("vllm"))) {
      const text = exchange.pieces.join("");
      const out = streamed(textForm(shapeOf(exchange)).stream(identity()), [Buffer.from(text)]);
      if (!text.includes('"error"') && !exchange.name.includes("list")) expect(out, exchange.name).toBe(text);
    }
  });
});

describe("whole answers", () => {
  test.each(named(whole))("%s", (_, exchange) => {
    const text = exchange.pieces.join("");
    const conformed = conformTextCompletion(text, identity());
    if (!conformed.ok) throw new Error(conformed.error.error.error.message);
    const reading = readCompletion(Buffer.from(conformed.value.text), { legacy: true });
    expect(reading.problems).toEqual([]);
    if (exchange.server.startsWith("vllm")) expect(conformed.value.text).toBe(text);
    const shape = shapeOf(exchange);
    const stream = textForm({ ...shape, includeUsage: true }).reframed(conformed.value);
    expect(readStream(Buffer.from(stream), { legacy: true, includeUsage: true }).problems).toEqual([]);
    const gathered = gatherOf(stream, { ...shape, includeUsage: true });
    expect(gathered).toMatchObject(JSON.parse(conformed.value.text) as object);
  });
});
