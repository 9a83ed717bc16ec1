import { KEEP_ALIVE, encodeEvent } from "../protocol/sse/encode.ts";
import type { GatewayError } from "../protocol/errors.ts";

/**
 * The client's end of a stream. The status is held back until there is something to say, so that an error that comes early is an
 * HTTP error; a client that has waited `keepAliveMs` gets its headers and a comment, and another after every silence of that length.
 */
export interface ClientStream {
  /** Settles with the first write, the first keep-alive or the error. */
  readonly response: Promise<Response>;
  /** Writes whole events. False: the client has left. Waits for a slow client: the bytes may be used again when it has settled. */
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
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  // What has been written and not been asked for again: the client, or the way to it, is slow.
  let untaken: PromiseWithResolvers<boolean> | undefined;
  let over = false;
  let lastWrite = now();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const end = (): void => {
    over = true;
    clearTimeout(timer);
  };
  const taken = (alive: boolean): void => {
    untaken?.resolve(alive);
    untaken = undefined;
  };
  /** A body that is asked for its pieces takes half the memory of a pipe while it is idle. */
  const open = (): ReadableStreamDefaultController<Uint8Array> => {
    if (controller !== undefined) return controller;
    const source: UnderlyingSource<Uint8Array> = {
      start(made): void {
        controller = made;
      },
      // With nothing kept in stock the runtime asks only when it has passed on all that it was given.
      pull: () => taken(true),
      cancel(): void {
        end();
        taken(false);
        gone();
      },
    };
    const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
    resolve(new Response(body, { headers }));
    return controller as unknown as ReadableStreamDefaultController<Uint8Array>;
  };
  const put = (bytes: Uint8Array): void => {
    open().enqueue(bytes);
    untaken ??= Promise.withResolvers();
    lastWrite = now();
  };
  // One timer for all silences: it looks how long the current one has lasted and sleeps for the rest.
  const watch = (ms: number): void => {
    timer = setTimeout(() => {
      const rest = lastWrite + keepAliveMs - now();
      if (rest > 0) return watch(rest);
      // A client that has not taken the last piece yet is slow, not waiting.
      if (untaken === undefined) put(COMMENT);
      watch(keepAliveMs);
    }, ms);
  };
  watch(keepAliveMs);

  return {
    response: promise,
    write(bytes): Promise<boolean> {
      if (over) return Promise.resolve(false);
      put(bytes);
      return (untaken as PromiseWithResolvers<boolean>).promise;
    },
    addHeaders(more): void {
      headers = { ...headers, ...more };
    },
    close(): void {
      if (over) return;
      end();
      open().close();
    },
    fail(error): void {
      if (over) return;
      end();
      if (controller === undefined) return resolve(respond(error));
      controller.enqueue(utf8.encode(encodeEvent(JSON.stringify({ error: error.error }))));
      controller.close();
    },
  };
}
