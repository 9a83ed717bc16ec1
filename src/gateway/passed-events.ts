import { MAX_EVENT_BYTES } from "../protocol/answer-form.ts";
import { failureFromBody, type Failure } from "../protocol/chat/part.ts";
import { gatewayError } from "../protocol/errors.ts";
import { isObject, parseTolerant } from "../protocol/json/lossless.ts";
import { createSseDecoder, type EventVisitor, type ServerSentEvent } from "../protocol/sse/decode.ts";
import { encodeEvent } from "../protocol/sse/encode.ts";

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

const TOO_LARGE = gatewayError(
  "upstream_too_large",
  "The upstream sent an event that is larger than this gateway accepts.",
);
const LOOKS_LIKE_JSON = /^\s*[[{"]/;
const CUT = gatewayError("upstream_cut", "The upstream ended the stream in the middle of an event.");

export function createPassedEvents(): PassedEvents {
  const decoder = createSseDecoder(MAX_EVENT_BYTES);
  const utf8 = new TextEncoder();
  let out = "";
  let begun = false;
  let failure: Failure | undefined;
  // What was sent as a document, under the label of events: without a single event.
  let document = "";
  const visitor: EventVisitor = {
    text(text): void {
      if (!begun) document += text;
    },
    known: (_text, at) => at,
    event(event): void {
      begun = true;
      if (failure !== undefined) return;
      failure = failureOf(event);
      if (failure !== undefined) return;
      const { data, event: name } = event;
      out += (name === "" ? "" : `event: ${name}\n`) + encodeEvent(data.replaceAll("\n", "\ndata: "));
    },
  };
  const passed = (): Passed => {
    if (decoder.overflown || document.length > MAX_EVENT_BYTES) failure ??= { error: TOO_LARGE };
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
      if (!begun && isErrorText(document)) failure ??= failureFromBody(undefined, document);
      else if (!begun && LOOKS_LIKE_JSON.test(document)) out += document;
      return passed();
    },
  };
}

function failureOf({ data, event, error, complete }: ServerSentEvent): Failure | undefined {
  if (error !== undefined) return failureFromBody(undefined, error);
  if (event === "error" || isErrorText(data)) return failureFromBody(undefined, data);
  // The last event may come without its blank line, but not with half of its data.
  const isHalf = !complete && LOOKS_LIKE_JSON.test(data) && parseTolerant(data) === undefined;
  return isHalf ? { error: CUT } : undefined;
}

/** Whether JSON says in so many words that it is an error: what these endpoints send has no common shape by which to tell more. */
function isErrorText(text: string): boolean {
  const body = parseTolerant(text)?.value;
  if (!isObject(body)) return false;
  const { error, type, object } = body;
  return (error !== undefined && error !== null && error !== false) || type === "error" || object === "error";
}
