import { createSseDecoder, type EventVisitor, type ServerSentEvent } from "../sse/decode.ts";
import { DONE, encodeEvent } from "../sse/encode.ts";
import { gatewayError } from "../errors.ts";
import { createConform, type Conform, type ConformOptions } from "./conform.ts";
import type { Failure } from "./part.ts";

/**
 * From an upstream's bytes to the client's bytes, one call per network read, synchronously: on Workers the cost of a stream is the
 * hop between JavaScript and the runtime for each read and write, not the JSON between them.
 */
export interface ChatStream {
  /** What a read turned into, to be written as one piece; undefined: nothing yet. May be the very bytes that were given. */
  feed(bytes: Uint8Array): Uint8Array | undefined;
  /** The body has ended in an orderly way. */
  end(): Uint8Array | undefined;
  /** The body was cut or stalled. */
  fail(failure: Failure): Uint8Array | undefined;
  readonly conform: Conform;
}

const utf8 = new TextEncoder();

/** @param maxEventBytes an event that grows beyond this fails the answer */
export function createChatStream(options: Omit<ConformOptions, "parsed">, maxEventBytes: number): ChatStream {
  const decoder = createSseDecoder(maxEventBytes);
  let current: ServerSentEvent | undefined;
  let out = "";
  // A run of events that leave just as they stand in the text of this read.
  let text = "";
  let runStart = 0;
  let runEnd = 0;

  const flushRun = (): void => {
    if (runEnd > runStart) out += text.slice(runStart, runEnd);
    runStart = runEnd = 0;
  };
  const keepRun = (start: number, end: number): void => {
    if (start !== runEnd) {
      flushRun();
      runStart = start;
    }
    runEnd = end;
  };
  const conform = createConform(
    { ...options, parsed: false },
    {
      unchanged(data): void {
        if (current !== undefined && current.start >= 0 && data === current.data)
          return keepRun(current.start, current.end);
        flushRun();
        out += encodeEvent(data);
      },
      changed(chunk): void {
        flushRun();
        out += encodeEvent(JSON.stringify(chunk));
      },
    },
  );
  const visitor: EventVisitor = {
    text(whole): void {
      text = whole;
    },
    event(event): void {
      current = event;
      conform.take(event);
      current = undefined;
    },
    known(whole, at): number {
      const end = conform.takeRun(whole, at);
      if (end > at) keepRun(at, end);
      return end;
    },
  };
  const finish = (): Uint8Array | undefined => {
    flushRun();
    if (conform.outcome?.kind === "complete") out += encodeEvent(DONE);
    const bytes = out === "" ? undefined : utf8.encode(out);
    out = "";
    return bytes;
  };

  return {
    conform,
    feed(bytes): Uint8Array | undefined {
      const source = decoder.visit(bytes, visitor);
      if (decoder.overflown) {
        conform.fail({
          error: gatewayError(
            "upstream_too_large",
            "The upstream sent an event that is larger than this gateway accepts.",
          ),
        });
      }
      const whole =
        source !== undefined && out === "" && runStart === 0 && runEnd === text.length && conform.outcome === undefined;
      if (!whole || runEnd === 0) return finish();
      runEnd = 0;
      return source;
    },
    end(): Uint8Array | undefined {
      decoder.flush(visitor);
      conform.end();
      return finish();
    },
    fail(failure): Uint8Array | undefined {
      decoder.flush(visitor);
      conform.fail(failure);
      return finish();
    },
  };
}
