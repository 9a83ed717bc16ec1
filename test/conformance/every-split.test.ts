// The protocol core gives the same answer wherever the network cuts a body: every scripted stream, at every byte.
import { describe, expect, test } from "vitest";
import { parseChatRequest } from "../../src/protocol/chat/request.ts";
import type { AnswerShape } from "../../src/protocol/chat/types.ts";
import { bytesOf, isEventStream, loadCaptures } from "../fixtures/captures.ts";
import { loadCases, type Step } from "./cases.ts";
import { gatherThrough, streamThrough } from "./core.ts";
import { chop, joined, writesOf } from "./script.ts";

const PLAIN: AnswerShape = { n: 1, toolNames: [], namedTool: false, includeUsage: true };

function shapeOf(step: Step): AnswerShape {
  const body = { model: "m", messages: [{ role: "user", content: "hi" }], ...step.client?.body };
  const parsed = parseChatRequest(JSON.stringify(body));
  return parsed.ok ? parsed.value.shape : PLAIN;
}

/** Every border of a short body; of a long one some that are spread over it, odd enough to fall anywhere in an event. */
function bordersOf(length: number): number[] {
  if (length <= 1000) return Array.from({ length: Math.max(0, length - 1) }, (_, i) => i + 1);
  const count = length <= 100_000 ? 24 : 4;
  return Array.from({ length: count }, (_, i) => 1 + (((i + 1) * 2_654_435_761) % (length - 1)));
}

const bothOf = (reads: readonly Uint8Array[], shape: AnswerShape): string =>
  `${streamThrough(reads, shape).toString("latin1")}\n${JSON.stringify(gatherThrough(reads, shape))}`;

function expectSameEverywhere(body: Buffer, shape: AnswerShape): void {
  const uncut = bothOf([body], shape);
  for (const border of bordersOf(body.length)) {
    const cut = bothOf([body.subarray(0, border), body.subarray(border)], shape);
    if (cut !== uncut) expect(cut, `cut at byte ${border}`).toBe(uncut);
  }
  if (body.length <= 5000) expect(bothOf(chop(body, 1), shape), "byte by byte").toBe(uncut);
}

describe("scripted streams", () => {
  for (const one of loadCases()) {
    if ((one.kind ?? "chat") !== "chat") continue;
    const answers = [one, ...(one.further ?? []), ...(one.also ?? [])].flatMap((step) =>
      (step.upstream ?? []).filter((a) => a.body && !a.headers?.["content-encoding"]).map((a) => [step, a] as const),
    );
    if (!answers.length) continue;
    test(`case ${one.id}: ${one.title}`, () => {
      for (const [step, answer] of answers) expectSameEverywhere(joined(writesOf(answer.body ?? [])), shapeOf(step));
    });
  }
});

describe("streams of real servers", () => {
  const streams = loadCaptures().filter(
    (exchange) => isEventStream(exchange) && exchange.request.path.includes("/chat/"),
  );
  test.each(streams.map((exchange) => [exchange.server, exchange.name, exchange] as const))(
    "%s %s",
    (_, __, exchange) => {
      expectSameEverywhere(Buffer.from(bytesOf(exchange)), PLAIN);
    },
  );
});
