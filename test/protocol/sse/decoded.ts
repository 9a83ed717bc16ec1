import { createSseDecoder, type EventVisitor, type ServerSentEvent } from "../../../src/protocol/sse/decode.ts";

export interface Decoded {
  readonly events: readonly ServerSentEvent[];
  readonly text: string;
  /** The bytes that the decoder says can leave in place of the text. */
  readonly source: Uint8Array | undefined;
}

export interface ListDecoder {
  /** Undefined: an event has outgrown the limit. */
  feed(bytes: Uint8Array): Decoded | undefined;
  flush(): Decoded;
}

/** The decoder, with the events of each read as a list. */
export function listDecoder(maxEventBytes: number): ListDecoder {
  const decoder = createSseDecoder(maxEventBytes);
  let events: ServerSentEvent[] = [];
  let text = "";
  const visitor: EventVisitor = {
    text: (whole) => void (text = whole),
    event: (event) => void events.push(event),
    known: (_text, at) => at,
  };
  const taken = (source: Uint8Array | undefined): Decoded => {
    const decoded = { events, text, source };
    events = [];
    text = "";
    return decoded;
  };
  return {
    feed(bytes): Decoded | undefined {
      const source = decoder.visit(bytes, visitor);
      return decoder.overflown ? undefined : taken(source);
    },
    flush(): Decoded {
      decoder.flush(visitor);
      return taken(undefined);
    },
  };
}
