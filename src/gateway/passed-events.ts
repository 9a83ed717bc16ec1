import { MAX_EVENT_BYTES } from "../protocol/answer-form.ts";
import { failureFromBody, isErrorBody, type Failure } from "../protocol/chat/part.ts";
import { isObject, parseTolerant } from "../protocol/json/lossless.ts";
import { createSseDecoder, type EventVisitor } from "../protocol/sse/decode.ts";
import { encodeEvent } from "../protocol/sse/encode.ts";
import { invalidAnswer } from "../protocol/upstream-error.ts";

/** What leaves of some bytes, and why nothing leaves after it. */
export interface Passed {
  readonly bytes: Uint8Array;
  readonly failure: Failure | undefined;
}

/** The events of an answer that passes as it comes: the same ones, framed anew, up to one that is an error. */
export interface PassedEvents {
  take(bytes: Uint8Array): Passed;
  /** The body has ended. */
  end(): Passed;
}

export function createPassedEvents(): PassedEvents {
  const decoder = createSseDecoder(MAX_EVENT_BYTES);
  const utf8 = new TextEncoder();
  let out = "";
  let failure: Failure | undefined;
  const visitor: EventVisitor = {
    text: () => undefined,
    known: (_text, at) => at,
    event({ data, event, complete }): void {
      if (failure !== undefined || !complete) return;
      const body = parseTolerant(data)?.value;
      if (event === "error" || (isObject(body) && isErrorBody(body))) failure = failureFromBody(undefined, data);
      else out += (event === "" ? "" : `event: ${event}\n`) + encodeEvent(data.replaceAll("\n", "\ndata: "));
    },
  };
  const passed = (): Passed => {
    if (decoder.overflown) failure ??= { error: invalidAnswer("an event that is too large") };
    const bytes = utf8.encode(out);
    out = "";
    return { bytes, failure };
  };
  return {
    take(bytes): Passed {
      decoder.visit(bytes, visitor);
      return passed();
    },
    end(): Passed {
      decoder.flush(visitor);
      return passed();
    },
  };
}
