import { MAX_ANSWER_BYTES } from "../protocol/answer-form.ts";
import { concat } from "../protocol/bytes.ts";
import { failureFromBody, isErrorBody, type Failure } from "../protocol/chat/part.ts";
import type { GatewayError } from "../protocol/errors.ts";
import { isObject, parseTolerant, withoutNonFinite } from "../protocol/json/lossless.ts";
import { membersOf } from "../protocol/json/members.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { encodeEvent } from "../protocol/sse/encode.ts";
import { invalidAnswer } from "../protocol/upstream-error.ts";
import { createDeparture } from "../upstream/departure.ts";
import { createExchange, type Exchange } from "../upstream/exchange.ts";
import type { Reply } from "../upstream/reply.ts";
import { headersFor, type UpstreamRequest } from "../upstream/request.ts";
import { BINDING_MISSING, failed, type Asked } from "./complete.ts";
import { createPassedEvents, type Passed } from "./passed-events.ts";
import type { Ports } from "./ports.ts";

/** A request whose answer is the client's to read: it passes as it comes, but for errors. */
export interface PassCall extends Asked {
  readonly url: string;
  readonly body: UpstreamRequest["body"];
  readonly contentType: string;
  /** `json`: anything else is no answer. `any`: sound, text, events or JSON. */
  readonly answer: "json" | "any";
  /** Fires when the request turns out to be one that must not be served. */
  readonly calledOff?: AbortSignal;
  readonly respond: (error: GatewayError) => Response;
}

/** How much of a JSON answer is looked at before it leaves. Errors under a 200 are short. */
const LOOKED_AT_BYTES = 64 * 1024;

const WHOLE = { stream: false, omitKey: false, options: false };

export async function passThrough(call: PassCall, ports: Ports): Promise<Response> {
  const exchange = prepare(call, ports);
  if (!exchange.ok) return call.respond(failed(call, ports, exchange.error));
  const opened = await exchange.value.open();
  const begun = opened.ok ? await begin(call, exchange.value, opened.value) : opened;
  if (!begun.ok) {
    exchange.value.close();
    return call.respond(failed(call, ports, begun.error));
  }
  const { reply, first, ended } = begun.value;
  const init = { headers: { ...reply.headers, "content-type": reply.contentType ?? "application/octet-stream" } };
  if (ended) {
    exchange.value.close();
    return new Response(first, init);
  }
  // The one kind of stream that the runtime pipes without a call of ours for every piece.
  const { readable, writable } = new IdentityTransformStream();
  void pump(call, ports, exchange.value, reply, first, writable).finally(() => exchange.value.close());
  return new Response(readable, init);
}

function prepare(call: PassCall, ports: Ports): Result<Exchange, Failure> {
  const { target, url, body, contentType, answer, calledOff } = call;
  const fetch = ports.fetcherOf(target.binding);
  if (fetch === undefined) return err({ error: BINDING_MISSING });
  const headers = headersFor(target, WHOLE, ports.newId("sluice-"), ports.secretOf);
  if (!headers.ok) return err({ error: headers.error });
  const own = { "content-type": contentType, accept: answer === "json" ? "application/json" : "*/*" };
  const request = { url, headers: { ...headers.value, ...own }, body };
  const departure = calledOff && createDeparture(calledOff);
  return ok(createExchange({ request, target, stream: false, fetch, now: ports.now, departure, raw: true }));
}

interface Begun {
  readonly reply: Reply;
  /** What has been read so far. */
  readonly first: Uint8Array<ArrayBuffer> | string;
  readonly ended: boolean;
}

/** Reads as much of a JSON answer as tells an answer from an error; of anything else, nothing. */
async function begin(call: PassCall, exchange: Exchange, reply: Reply): Promise<Result<Begun, Failure>> {
  const isJson = call.answer === "json" || /\bjson\b/i.test(reply.contentType ?? "");
  if (!isJson) return ok({ reply, first: "", ended: false });
  // The name of the model may stand behind everything else.
  const most = call.answer === "json" && call.reportedModel !== undefined ? MAX_ANSWER_BYTES : LOOKED_AT_BYTES;
  const parts: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  try {
    while (!ended && length < most) {
      exchange.deadline.set("idle_ms", call.target.deadlines.idle_ms);
      const bytes = await reply.read();
      if (bytes !== undefined) parts.push(bytes.slice());
      length += bytes?.length ?? 0;
      ended = bytes === undefined || reply.ended();
    }
  } catch {
    return err(exchange.broken());
  }
  const first = concat(parts).slice();
  const text = new TextDecoder().decode(first);
  const parsed = ended ? parseTolerant(text) : undefined;
  const body = parsed?.value;
  const fault = faultOf(text, body, ended, call.answer);
  if (fault !== undefined) return err(fault);
  const name = isObject(body) ? body["model"] : undefined;
  const { reportedModel } = call;
  const other = typeof name === "string" && reportedModel !== undefined && name !== reportedModel;
  if (parsed === undefined || (parsed.legal && !other)) return ok({ reply, first, ended });
  const legal = parsed.legal ? text : withoutNonFinite(text);
  return ok({ reply, first: other ? renamed(legal, reportedModel) : legal, ended });
}

function renamed(text: string, model: string): string {
  const members = membersOf(text);
  members.set("model", JSON.stringify(model));
  return members.toText();
}

function faultOf(text: string, body: unknown, ended: boolean, answer: PassCall["answer"]): Failure | undefined {
  const isJson = ended ? body !== undefined : /^\s*[[{]/.test(text);
  if (!isJson) return answer === "json" ? { error: invalidAnswer("an answer that is not JSON") } : undefined;
  return isObject(body) && isErrorBody(body) ? failureFromBody(undefined, text) : undefined;
}

/** Read, write, and nothing else; of events, those that are errors are told as ours are. What breaks off must not look whole. */
async function pump(
  call: PassCall,
  ports: Ports,
  exchange: Exchange,
  reply: Reply,
  first: Begun["first"],
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const writer = writable.getWriter();
  const utf8 = new TextEncoder();
  const events = /^text\/event-stream\b/i.test(reply.contentType ?? "") ? createPassedEvents() : undefined;
  const fail = async (failure: Failure): Promise<void> => {
    const { error } = failed(call, ports, failure);
    if (events === undefined) return writer.abort(error.code);
    await writer.write(utf8.encode(encodeEvent(JSON.stringify({ error }))));
    await writer.close();
  };
  let bytes: Uint8Array | undefined = typeof first === "string" ? utf8.encode(first) : first;
  try {
    for (let broken: Failure | undefined; ;) {
      const passed: Passed =
        events === undefined
          ? { bytes: bytes ?? NOTHING, failure: undefined }
          : bytes === undefined
            ? events.end()
            : events.take(bytes);
      // A slow client is no reason to give the upstream up.
      exchange.deadline.pause();
      if (passed.bytes.length > 0) await writer.write(passed.bytes);
      const failure = passed.failure ?? broken;
      if (failure !== undefined) return await fail(failure);
      if (bytes === undefined) return await writer.close();
      exchange.deadline.set("idle_ms", call.target.deadlines.idle_ms);
      bytes = await reply.read().catch(() => {
        broken = exchange.broken();
        return undefined;
      });
    }
  } catch {
    // The client has left; there is nobody to tell.
  }
}

const NOTHING = new Uint8Array();
