import type { AnswerGather } from "./answer-form.ts";
import type { ChunkSink, Conform } from "./chat/conform.ts";
import type { Failure } from "./chat/part.ts";
import { gatewayError } from "./errors.ts";
import type { JsonObject } from "./json/lossless.ts";
import { err, ok, type Result } from "./result.ts";
import { createSseDecoder, type EventVisitor } from "./sse/decode.ts";

/** An answer as JSON, gathered from the chunks of a stream that holds to the contract. */
export interface Aggregate extends ChunkSink {
  /** @param conform the stream that fed it, once it has ended */
  completion(conform: Conform): JsonObject;
}

/**
 * An upstream's stream as one JSON answer. It is held in memory, which the whole isolate shares: hence `maxBytes`.
 * @param create makes what holds the answer to the contract, every chunk parsed
 */
export function createAnswerGather(
  create: (sink: ChunkSink) => Conform,
  aggregate: Aggregate,
  maxEventBytes: number,
  maxBytes: number,
): AnswerGather {
  const decoder = createSseDecoder(maxEventBytes);
  const conform = create(aggregate);
  const visitor: EventVisitor = { text: () => undefined, event: conform.take, known: (_text, at) => at };
  let bytesSeen = 0;
  return {
    state: conform,
    feed(bytes): void {
      bytesSeen += bytes.length;
      decoder.visit(bytes, visitor);
      if (decoder.overflown || bytesSeen > maxBytes) {
        conform.fail({
          error: gatewayError(
            "upstream_too_large",
            "The upstream sent an answer that is larger than this gateway accepts.",
          ),
        });
      }
    },
    end(failure): Result<JsonObject, Failure> {
      decoder.flush(visitor);
      if (failure === undefined) conform.end();
      else conform.fail(failure);
      return conform.outcome?.kind === "failed" ? err(conform.outcome.failure) : ok(aggregate.completion(conform));
    },
  };
}
