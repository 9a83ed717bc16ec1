import { KEEP_ALIVE, encodeEvent } from "../protocol/sse/encode.ts";
import type { GatewayError } from "../protocol/errors.ts";

/**
 * The client's end of a stream. The status is held back until there is something to say, so that an error that comes early is an
 * HTTP error; a client that has waited `keepAliveMs` gets its headers and a comment, and another after every silence of that length.
 */
export interface ClientStream {
  /** Settles with the first write, the first keep-alive or the error. */
  readonly response: Promise<Response>;
  /** Writes whole events. False: the client has left. Waits for a slow client. */
  write(bytes: Uint8Array): Promise<boolean>;
  close(): void;
  /** An HTTP error if nothing has left yet, else the one error event that ends the stream. */
  fail(error: GatewayError): void;
  /** Headers of the upstream that are to leave with the answer, if its headers have not left yet. */
  addHeaders(headers: Readonly<Record<string, string>>): void;
}

export interface ClientStreamOptions {
  readonly keepAliveMs: number;
  readonly now: () => number;
  readonly respond: (error: GatewayError) => Response;
  /** The client has left while we were writing. */
  readonly gone: () => void;
}

const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // `no-transform` keeps the edge from compressing, which would hold events back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const utf8 = new TextEncoder();
const COMMENT = utf8.encode(KEEP_ALIVE);

export function createClientStream({ keepAliveMs, now, respond, gone }: ClientStreamOptions): ClientStream {
  const { promise, resolve } = Promise.withResolvers<Response>();
  let headers: Record<string, string> = { ...SSE_HEADERS };
  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  let writing = false;
  let over = false;
  let lastWrite = now();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = (): WritableStreamDefaultWriter<Uint8Array> => {
    if (writer !== undefined) return writer;
    // The one kind of stream that the runtime pipes without a call of ours for every piece.
    const { readable, writable } = new IdentityTransformStream();
    writer = writable.getWriter();
    resolve(new Response(readable, { headers }));
    return writer;
  };
  const put = async (bytes: Uint8Array): Promise<boolean> => {
    writing = true;
    try {
      await open().write(bytes);
      lastWrite = now();
      return true;
    } catch {
      end();
      gone();
      return false;
    } finally {
      writing = false;
    }
  };
  const end = (): void => {
    over = true;
    clearTimeout(timer);
  };
  // One timer for all silences: it looks how long the current one has lasted and sleeps for the rest.
  const watch = (ms: number): void => {
    timer = setTimeout(() => {
      const rest = lastWrite + keepAliveMs - now();
      if (rest > 0) return watch(rest);
      // A client that has not taken the last piece yet is slow, not waiting.
      if (!writing) void put(COMMENT);
      watch(keepAliveMs);
    }, ms);
  };
  watch(keepAliveMs);

  return {
    response: promise,
    write: (bytes): Promise<boolean> => (over ? Promise.resolve(false) : put(bytes)),
    addHeaders(more): void {
      headers = { ...headers, ...more };
    },
    close(): void {
      if (over) return;
      end();
      open().close().catch(gone);
    },
    fail(error): void {
      if (over) return;
      end();
      if (writer === undefined) return resolve(respond(error));
      writer.write(utf8.encode(encodeEvent(JSON.stringify({ error: error.error })))).catch(gone);
      writer.close().catch(gone);
    },
  };
}
