import { gatewayError } from "../protocol/errors.ts";
import type { Failure } from "../protocol/chat/part.ts";
import { failureFromBody } from "../protocol/chat/part.ts";
import { invalidAnswer } from "../protocol/upstream-error.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createBodyReader, type BodyReader } from "./body-reader.ts";
import { createDeadline, DeadlineExceeded, type Deadline } from "./deadline.ts";
import { keptHeaders } from "./failure.ts";
import type { UpstreamRequest } from "./request.ts";
import type { Target } from "./target.ts";

/** A 200 whose body has begun. It is read for what it is: what its content type says has been wrong too often. */
export interface Reply {
  readonly format: "json" | "events";
  readonly headers: Readonly<Record<string, string>>;
  /** The next bytes, the first ones included; undefined at the end. An error says why there are no more. */
  read(): Promise<Result<Uint8Array | undefined, Failure>>;
}

/** One request to one target, from its first byte to its last, and the limits that hold for it. */
export interface Exchange {
  open(): Promise<Result<Reply, Failure>>;
  readonly deadline: Deadline;
  /** When the request was made, in milliseconds since 1970. */
  readonly openedAt: number;
  /** Gives the connection back or breaks it; safe to call at any time, and called on every path. */
  close(): void;
}

export interface ExchangeOptions {
  readonly request: UpstreamRequest;
  readonly target: Target;
  readonly stream: boolean;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly now: () => number;
  /** Fires when the client has left. */
  readonly clientGone: AbortSignal;
}

const MAX_ERROR_BYTES = 64 * 1024;

export function createExchange({ request, target, stream, fetch, now, clientGone }: ExchangeOptions): Exchange {
  const abort = new AbortController();
  const deadline = createDeadline(now, (reason) => abort.abort(reason));
  // `fetch` ignores a signal of the incoming request; one of our own reaches the upstream within a millisecond.
  const leave = (): void => abort.abort(clientGone.reason);
  clientGone.addEventListener("abort", leave);
  let reader: BodyReader | undefined;
  let closed = false;

  const failure = (phase: "headers" | "body"): Failure => {
    const reason: unknown = abort.signal.reason;
    if (reason instanceof DeadlineExceeded) {
      return { error: gatewayError("upstream_timeout", `The upstream did not answer in time (${reason.limit}).`) };
    }
    if (clientGone.aborted) return { error: gatewayError("client_closed_request", "The client has left.") };
    return phase === "headers"
      ? { error: gatewayError("upstream_unreachable", "The upstream could not be reached.") }
      : {
          error: gatewayError(
            "upstream_cut",
            "The connection to the upstream broke off before the answer was finished.",
          ),
        };
  };

  const readBody = async (): Promise<Result<Uint8Array | undefined, Failure>> => {
    try {
      return ok(reader === undefined ? undefined : await reader.read());
    } catch {
      return err(failure("body"));
    }
  };

  const readError = async (response: Response): Promise<Failure> => {
    deadline.set("idle_ms", target.deadlines.idle_ms);
    const utf8 = new TextDecoder();
    let text = "";
    for (let bytes = 0; bytes < MAX_ERROR_BYTES;) {
      const next = await readBody();
      // What has come of an error says more than how it ended.
      if (!next.ok || next.value === undefined) break;
      bytes += next.value.length;
      text += utf8.decode(next.value, { stream: true });
    }
    const said = failureFromBody(response.status, text);
    const headers = keptHeaders(response.headers);
    return { ...said, error: { ...said.error, headers } };
  };

  return {
    deadline,
    openedAt: now(),
    async open(): Promise<Result<Reply, Failure>> {
      if (clientGone.aborted) return err(failure("headers"));
      if (stream) deadline.set("first_event_ms", target.deadlines.first_event_ms);
      else deadline.set("total_ms", target.deadlines.total_ms);
      let response: Response;
      try {
        const { url, headers, body } = request;
        response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: abort.signal });
      } catch {
        return err(failure("headers"));
      }
      if (response.body !== null) reader = createBodyReader(response.body as ReadableStream<Uint8Array>);
      if (response.status < 200 || response.status > 299) return err(await readError(response));
      return sniff(response);
    },
    close(): void {
      if (closed) return;
      closed = true;
      deadline.clear();
      clientGone.removeEventListener("abort", leave);
      reader?.cancel();
    },
  };

  /** Reads until the first byte that tells an event stream from JSON. */
  async function sniff(response: Response): Promise<Result<Reply, Failure>> {
    let first: Result<Uint8Array | undefined, Failure> | undefined;
    let format: Reply["format"] | undefined;
    const skipped: Uint8Array[] = [];
    while (format === undefined) {
      first = await readBody();
      if (!first.ok) return first;
      if (first.value === undefined) return err({ error: invalidAnswer("an empty answer") });
      format = formatOf(first.value, response.headers.get("content-type") ?? "");
      if (format === undefined) skipped.push(first.value.slice());
    }
    return ok({
      format,
      headers: keptHeaders(response.headers),
      async read() {
        const early = skipped.shift();
        if (early !== undefined) return ok(early);
        if (first === undefined) return readBody();
        const now = first;
        first = undefined;
        return now;
      },
    });
  }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** A brace begins a document. `data:`, `event:`, `id:`, `retry:`, `error:` or a comment begin an event stream; else the label counts. */
function formatOf(bytes: Uint8Array, contentType: string): Reply["format"] | undefined {
  const visible = bytes.find((byte) => byte > 0x20 && !BYTE_ORDER_MARK.includes(byte));
  if (visible === undefined) return undefined;
  const first = String.fromCharCode(visible);
  if (first === "{" || first === "[") return "json";
  return ":deir".includes(first) || /^text\/event-stream\b/i.test(contentType) ? "events" : "json";
}
