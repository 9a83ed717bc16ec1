import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { Failure } from "../protocol/chat/part.ts";
import { failureFromBody } from "../protocol/chat/part.ts";
import { invalidAnswer } from "../protocol/upstream-error.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createBodyReader, EMPTY_BODY, type BodyReader } from "./body-reader.ts";
import { createDeadline, DeadlineExceeded, type Deadline } from "./deadline.ts";
import { keptHeaders, keptOnSuccess } from "./failure.ts";
import type { UpstreamRequest } from "./request.ts";
import type { Target } from "./target.ts";

/** A 200 whose body has begun. It is read for what it is: what its content type says has been wrong too often. */
export interface Reply {
  readonly format: "json" | "events" | "bytes";
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string | null;
  /** The next bytes, the first ones included, valid until the next call; undefined at the end. Rejects when the body breaks off. */
  read(): Promise<Uint8Array | undefined>;
  /** Whether all of it has been read, as far as is known without asking. */
  ended(): boolean;
}

/** One request to one target, from its first byte to its last, and the limits that hold for it. */
export interface Exchange {
  open(): Promise<Result<Reply, Failure>>;
  readonly deadline: Deadline;
  /** When the request was made, in milliseconds since 1970. */
  readonly openedAt: number;
  /** Why a read has rejected. */
  broken(): Failure;
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
  readonly clientGone: AbortSignal | undefined;
  /** The answer is taken as it comes, whatever it is: its format is `bytes`. */
  readonly raw?: boolean;
}

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_BLANK_BYTES = 1024 * 1024;

export function createExchange({
  request,
  target,
  stream,
  fetch,
  now,
  clientGone,
  raw = false,
}: ExchangeOptions): Exchange {
  const abort = new AbortController();
  const deadline = createDeadline(now, (reason) => abort.abort(reason));
  // `fetch` ignores a signal of the incoming request; one of our own reaches the upstream within a millisecond.
  const leave = (): void => abort.abort(clientGone?.reason);
  clientGone?.addEventListener("abort", leave);
  let reader: BodyReader = EMPTY_BODY;
  let closed = false;

  const failure = (otherwise: () => GatewayError): Failure => {
    const reason: unknown = abort.signal.reason;
    if (reason instanceof DeadlineExceeded) {
      return { error: gatewayError("upstream_timeout", `The upstream did not answer in time (${reason.limit}).`) };
    }
    return { error: clientGone?.aborted === true ? CLIENT_GONE : otherwise() };
  };
  const broken = (): Failure => failure(() => CUT);

  const readError = async (response: Response): Promise<Failure> => {
    deadline.set("idle_ms", target.deadlines.idle_ms);
    const utf8 = new TextDecoder();
    let text = "";
    try {
      for (let bytes = 0; bytes < MAX_ERROR_BYTES;) {
        const next = await reader.read();
        if (next === undefined) break;
        bytes += next.length;
        text += utf8.decode(next, { stream: true });
      }
    } catch {
      // What has come of an error says more than how it ended; but nothing of it has, if the client has left.
      if (clientGone?.aborted === true) return broken();
    }
    const said = failureFromBody(response.status, text);
    return { ...said, error: { ...said.error, headers: keptHeaders(response.headers) } };
  };

  /** Reads until the first byte that tells an event stream from JSON. */
  const sniff = async (response: Response): Promise<Result<Reply, Failure>> => {
    let first: Uint8Array | undefined;
    let format: Reply["format"] | undefined;
    let blank = 0;
    while (format === undefined) {
      const bytes = await reader.read();
      if (bytes === undefined) return err({ error: invalidAnswer("an empty answer") });
      const at = bytes.findIndex(isVisible);
      if (at < 0) {
        blank += bytes.length;
        if (blank > MAX_BLANK_BYTES) return err({ error: invalidAnswer("an answer of nothing but white space") });
        continue;
      }
      format = formatOf(bytes[at] ?? 0, response.headers);
      // White space (and a byte order mark) in front means nothing, in either form. The buffer is used again only after the next
      // read, which comes when this piece has been taken.
      first = bytes.subarray(at);
    }
    const read = (): Promise<Uint8Array | undefined> => {
      const bytes = first;
      first = undefined;
      return bytes === undefined ? reader.read() : Promise.resolve(bytes);
    };
    return ok({
      format,
      headers: keptOnSuccess(response.headers),
      contentType: response.headers.get("content-type"),
      read,
      ended: () => first === undefined && reader.ended,
    });
  };

  return {
    deadline,
    openedAt: now(),
    broken,
    async open(): Promise<Result<Reply, Failure>> {
      if (clientGone?.aborted === true) return err({ error: CLIENT_GONE });
      if (stream) deadline.set("first_event_ms", target.deadlines.first_event_ms);
      else deadline.set("total_ms", target.deadlines.total_ms);
      let response: Response;
      try {
        const { url, headers, body } = request;
        response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: abort.signal });
      } catch {
        return err(failure(() => UNREACHABLE));
      }
      if (response.body !== null) reader = createBodyReader(response.body, lengthOf(response.headers));
      if (response.status < 200 || response.status > 299) return err(await readError(response));
      if (raw) return ok(unread(response, reader));
      try {
        return await sniff(response);
      } catch {
        return err(broken());
      }
    },
    close(): void {
      if (closed) return;
      closed = true;
      deadline.clear();
      clientGone?.removeEventListener("abort", leave);
      reader.cancel();
    },
  };
}

const unread = ({ headers }: Response, reader: BodyReader): Reply => ({
  format: "bytes",
  headers: keptOnSuccess(headers),
  contentType: headers.get("content-type"),
  read: () => reader.read(),
  ended: () => reader.ended,
});

const CLIENT_GONE = gatewayError("client_closed_request", "The client has left.");
const UNREACHABLE = gatewayError("upstream_unreachable", "The upstream could not be reached.");
const CUT = gatewayError("upstream_cut", "The connection to the upstream broke off before the answer was finished.");

/** The length of a body that arrives as it was sent; one that is unpacked on the way has another. */
function lengthOf(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  return length === null || headers.has("content-encoding") ? undefined : Number(length);
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const isVisible = (byte: number): boolean => byte > 0x20 && !BYTE_ORDER_MARK.includes(byte);

/** A brace begins a document. `data:`, `event:`, `id:`, `retry:`, `error:` or a comment begin an event stream; else the label counts. */
function formatOf(firstByte: number, headers: Headers): Reply["format"] {
  const first = String.fromCharCode(firstByte);
  if (first === "{" || first === "[") return "json";
  const label = headers.get("content-type") ?? "";
  return ":deir".includes(first) || /^text\/event-stream\b/i.test(label) ? "events" : "json";
}
