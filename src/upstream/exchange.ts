import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { Failure } from "../protocol/chat/part.ts";
import { failureFromBody } from "../protocol/chat/part.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createBodyReader, EMPTY_BODY, type BodyReader } from "./body-reader.ts";
import { createDeadline, type Deadline, type DeadlineExceeded } from "./deadline.ts";
import type { Departure } from "./departure.ts";
import { keptHeaders } from "./failure.ts";
import { begunReply, unreadReply, wholeReply, type Reply } from "./reply.ts";
import type { UpstreamRequest } from "./request.ts";
import type { Target } from "./target.ts";

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

  /** Whether a body need not be read as a stream. An event stream may be over before its end. */
  const isOnePiece = (headers: Headers, length: number | undefined): boolean =>
    !stream &&
    !raw &&
    length !== undefined &&
    length <= ONE_PIECE_BYTES &&
    target.deadlines.idle_ms >= ONE_PIECE_MS &&
    headers.get("content-type")?.includes("json") === true;

  const read = async (response: Response): Promise<Result<Reply, Failure>> => {
    const { ok: isAnswer, headers } = response;
    const length = lengthOf(headers);
    if (isAnswer && isOnePiece(headers, length)) {
      limitBody();
      return wholeReply(new Uint8Array(await unlessStopped(response.arrayBuffer())), headers);
    }
    if (response.body !== null) reader = createBodyReader(response.body, length);
    if (!isAnswer) return err(await readError(response));
    return raw ? ok(unreadReply(reader, headers)) : begunReply(reader, headers);
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
      try {
        return await read(response);
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

const CLIENT_GONE = gatewayError("client_closed_request", "The client has left.");
const UNREACHABLE = gatewayError("upstream_unreachable", "The upstream could not be reached.");
const CUT = gatewayError("upstream_cut", "The connection to the upstream broke off before the answer was finished.");

/** The length of a body that arrives as it was sent; one that is unpacked on the way has another. */
function lengthOf(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  return length === null || headers.has("content-encoding") ? undefined : Number(length);
}
