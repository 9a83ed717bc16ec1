import type { AnswerStream } from "./answer-form.ts";
import { concat } from "./bytes.ts";
import type { ChunkSink, Conform } from "./chat/conform.ts";
import type { RunSink } from "./chat/same-shape.ts";
import { gatewayError } from "./errors.ts";
import { createSseDecoder, type EventVisitor, type ServerSentEvent } from "./sse/decode.ts";
import { DONE, encodeEvent } from "./sse/encode.ts";

/** A large run and what follows it as one piece: written over what stood behind the run, which has been read, if it fits there. */
function behind(run: Uint8Array, more: Uint8Array): Uint8Array {
  const end = run.byteOffset + run.length + more.length;
  if (end > run.buffer.byteLength) return concat([run, more]);
  const whole = new Uint8Array(run.buffer, run.byteOffset, run.length + more.length);
  whole.set(more, run.length);
  return whole;
}

const utf8 = new TextEncoder();
const LARGE_RUN = 64 * 1024;

/**
 * An upstream's stream as the client's: what holds to the contract leaves with the bytes it came with.
 * @param create makes what holds the answer to the contract @param last whether `[DONE]` is said behind it
 */
export function createAnswerStream(
  create: (sink: ChunkSink, runs: RunSink) => Conform,
  maxEventBytes: number,
  last = true,
): AnswerStream {
  const decoder = createSseDecoder(maxEventBytes);
  let current: ServerSentEvent | undefined;
  let out = "";
  // A run of events that leave just as they stand in the text of this read.
  let text = "";
  let source: Uint8Array | undefined;
  let runStart = 0;
  let runEnd = 0;
  // What comes before `out`, already as bytes.
  let before: Uint8Array[] = [];

  const flushRun = (): void => {
    // A large run whose characters are its bytes is not made into a text and back.
    if (source !== undefined && runEnd - runStart > LARGE_RUN) {
      if (out !== "") before.push(utf8.encode(out));
      before.push(source.subarray(runStart, runEnd));
      out = "";
    } else if (runEnd > runStart) out += text.slice(runStart, runEnd);
    runStart = runEnd = 0;
  };
  const keepRun = (start: number, end: number): void => {
    if (start !== runEnd) {
      flushRun();
      runStart = start;
    }
    runEnd = end;
  };
  const runs: RunSink = {
    unchanged: keepRun,
    changed(events): void {
      flushRun();
      out += events;
    },
  };
  const sink: ChunkSink = {
    unchanged(data): void {
      if (current !== undefined && current.start >= 0 && data === current.data)
        return keepRun(current.start, current.end);
      flushRun();
      // JSON that came in several data lines: a line end in it is only white space.
      out += encodeEvent(data.replaceAll("\n", " "));
    },
    changed(chunk): void {
      flushRun();
      out += encodeEvent(JSON.stringify(chunk));
    },
  };
  const conform = create(sink, runs);
  const visitor: EventVisitor = {
    text(whole, bytes): void {
      text = whole;
      source = whole.length === bytes.length ? bytes : undefined;
    },
    event(event): void {
      current = event;
      conform.take(event);
      current = undefined;
    },
    known: conform.takeRun,
  };
  let closed = false;
  const finish = (): Uint8Array | undefined => {
    flushRun();
    if (last && !closed && conform.outcome?.kind === "complete") out += encodeEvent(DONE);
    closed = conform.outcome !== undefined;
    const bytes = out === "" ? undefined : utf8.encode(out);
    out = "";
    if (before.length === 0) return bytes;
    const parts = before;
    before = [];
    const [run] = parts;
    if (bytes === undefined || run === undefined || parts.length > 1) {
      return concat(bytes === undefined ? parts : [...parts, bytes]);
    }
    return behind(run, bytes);
  };

  return {
    state: conform,
    feed(bytes): Uint8Array | undefined {
      const lines = decoder.visit(bytes, visitor);
      if (decoder.overflown) {
        conform.fail({
          error: gatewayError(
            "upstream_too_large",
            "The upstream sent an event that is larger than this gateway accepts.",
          ),
        });
      }
      const whole =
        lines !== undefined &&
        before.length === 0 &&
        out === "" &&
        runStart === 0 &&
        runEnd === text.length &&
        conform.outcome === undefined;
      if (!whole || runEnd === 0) return finish();
      runEnd = 0;
      return lines;
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
