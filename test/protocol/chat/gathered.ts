import { createChatGather } from "../../../src/protocol/chat/aggregate.ts";
import type { AnswerShape } from "../../../src/protocol/chat/types.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { bytesOf } from "../sse/cut.ts";
import { identity, SHAPE, wire } from "./streamed.ts";

/** The JSON answer that a client gets for the events of an upstream; of a failure its code. */
export function gather(
  text: string,
  shape: Partial<AnswerShape> = {},
  cut: (bytes: Uint8Array) => readonly Uint8Array[] = (bytes) => [bytes],
): JsonObject | string | null {
  const chat = createChatGather({ shape: { ...SHAPE, ...shape }, identity: identity() }, 1_000_000, 5_000_000);
  for (const part of cut(bytesOf(text))) {
    chat.feed(part);
    if (chat.state.outcome !== undefined) break;
  }
  const result = chat.end();
  return result.ok ? (JSON.parse(JSON.stringify(result.value)) as JsonObject) : result.error.error.error.code;
}

export const gatherOf = (events: readonly unknown[], shape: Partial<AnswerShape> = {}): JsonObject | string | null =>
  gather(wire(events), shape);
