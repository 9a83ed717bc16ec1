import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { Failure } from "../protocol/chat/part.ts";
import { failureFromBody } from "../protocol/chat/part.ts";
import { invalidAnswer } from "../protocol/upstream-error.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createBodyReader, createWholeReader, EMPTY_BODY, type BodyReader } from "./body-reader.ts";
import { createDeadline, type Deadline, type DeadlineExceeded } from "./deadline.ts";
import type { Departure } from "./departure.ts";
import { keptHeaders, keptOnSuccess } from "./failure.ts";
import type { UpstreamRequest } from "./request.ts";
import type { Target } from "./target.ts";

/** A 200 whose body has begun. It is read for what it is: what its content type says has been wrong too often. */
export interface Reply {
  readonly format: "json" | "events" | "bytes";
  readonly headers: Readonly<Record<string, string>>;
  /** What an answer that is not looked into calls itself. */
  readonly contentType?: string | null;
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
  /** Tells when nobody wants the answer any more, where that is not for the runtime to see. */
  readonly departure: Departure | undefined;
  /** The answer is taken as it comes, whatever it is: its format is `bytes`. */
  readonly raw?: boolean;
}

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_BLANK_BYTES = 1024 * 1024;
/** What is as small as this and says its length comes in one piece. */
const ONE_PIECE_BYTES = 16 * 1024;
/** ... or takes long enough to be given up: where the limit is shorter, the silences within it count. */
const ONE_PIECE_MS = 10_000;

export function createExchange({
  request,
  target,
  stream,
  fetch,
  now,
  departure,
  raw = false,
}: ExchangeOptions): Exchange {
  // What has been asked for and not been answered is dropped with the request. An AbortController for it would cost a small request
  // a tenth of all that it costs.
  let halt: ((reason?: DeadlineExceeded) => void) | undefined;
  const stop = (reason?: DeadlineExceeded): void => {
    late ??= reason;
    halt?.(reason);
    reader.cancel();
  };
  /** Waits for it only until the exchange is stopped. `Promise.race` does the same at several times the price. */
  const unlessStopped = <T>(work: Promise<T>): Promise<T> =>
    new Promise((settle, fail) => {
      halt = fail;
      work.then(settle, fail);
    });
  const deadline = createDeadline(now, target.deadlines.idle_ms, stop);
  departure?.tell(() => stop());
  const openedAt = now();
  let reader: BodyReader = EMPTY_BODY;
  let late: DeadlineExceeded | undefined;
  let closed = false;

  const failure = (otherwise: () => GatewayError): Failure => {
    if (late !== undefined) {
      return { error: gatewayError("upstream_timeout", `The upstream did not answer in time (${late.limit}).`) };
    }
    return { error: departure?.left === true ? CLIENT_GONE : otherwise() };
  };
  const broken = (): Failure => failure(() => CUT);

  /** A body that has begun may not fall silent, nor take longer than what it belongs to. */
  const limitBody = (): void => {
    const { idle_ms, total_ms, first_event_ms } = target.deadlines;
    const rest = openedAt + (stream ? first_event_ms : total_ms) - now();
    if (rest > idle_ms) deadline.set("idle_ms", idle_ms);
  };

  const readError = async (response: Response): Promise<Failure> => {
    limitBody();
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
      if (departure?.left === true) return broken();
    }
    const said = failureFromBody(response.status, text);
    return { ...said, error: { ...said.error, headers: keptHeaders(response.headers) } };
  };

  const readerOf = (response: Response): BodyReader => {
    const length = lengthOf(response.headers);
    if (response.ok && !stream && !raw && length !== undefined && isOnePiece(response.headers, length)) {
      limitBody();
      return createWholeReader(response, unlessStopped);
    }
    return response.body === null ? EMPTY_BODY : createBodyReader(response.body, length);
  };

  /** Whether a body need not be read as a stream. An event stream may be over before its end. */
  const isOnePiece = (headers: Headers, length: number): boolean =>
    length <= ONE_PIECE_BYTES &&
    target.deadlines.idle_ms >= ONE_PIECE_MS &&
    headers.get("content-type")?.includes("json") === true;

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
      read,
      ended: () => first === undefined && reader.ended,
    });
  };

  return {
    deadline,
    openedAt,
    broken,
    async open(): Promise<Result<Reply, Failure>> {
      if (departure?.left === true) return err({ error: CLIENT_GONE });
      if (stream) deadline.set("first_event_ms", target.deadlines.first_event_ms);
      else deadline.set("total_ms", target.deadlines.total_ms);
      let response: Response;
      try {
        const { url, headers, body } = request;
        response = await unlessStopped(fetch(url, { method: "POST", headers, body, redirect: "manual" }));
      } catch {
        return err(failure(() => UNREACHABLE));
      }
      reader = readerOf(response);
      if (!response.ok) return err(await readError(response));
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
      deadline.pause();
      departure?.tell(undefined);
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
