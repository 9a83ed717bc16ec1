import type { GatewayError, WireError } from "../protocol/errors.ts";
import { gatewayError } from "../protocol/errors.ts";
import { MAX_EVENT_BYTES } from "../protocol/answer-form.ts";
import { isObject, parseLossless, type JsonObject } from "../protocol/json/lossless.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createSseDecoder } from "../protocol/sse/decode.ts";
import { DONE, encodeEvent } from "../protocol/sse/encode.ts";
import type { StreamingMemory } from "../upstream/streaming-memory.ts";
import { createClientStream, type ClientStream } from "./client-stream.ts";
import { complete, type AnswerCall } from "./complete.ts";
import { createMerge, mergeAnswers, type Merge } from "./merge-choices.ts";
import type { Ports } from "./ports.ts";

/** How many requests for one answer are open at a time. */
const AT_ONCE = 4;
/** A part of an answer is nobody's to keep alive: the whole is. As long as a timer can last. */
export const NEVER_MS = 2 ** 31 - 1;

/**
 * Several choices of a server that gives one at a time: a request for each, and one answer made of theirs. If one of them fails the
 * others are called off, and the whole has failed. @param call asks for one choice, in body and form
 */
export async function completeEach(
  call: AnswerCall,
  copies: number,
  ports: Ports,
  memory: StreamingMemory,
): Promise<Response> {
  const stop = new AbortController();
  const target = { ...call.target, deadlines: { ...call.target.deadlines, keep_alive_ms: NEVER_MS } };
  const one = (): Promise<Response> => complete({ ...call, target, calledOff: stop.signal }, ports, memory);
  if (!call.stream) return whole(call, copies, one, stop);

  const { keep_alive_ms: keepAliveMs } = call.target.deadlines;
  const gone = (): void => stop.abort();
  const client = createClientStream({ keepAliveMs, now: ports.now, respond: call.respond, gone });
  streamed(client, copies, one, stop).catch((bug: unknown) => {
    ports.log("internal_error", { request_id: call.requestId, name: bug instanceof Error ? bug.name : "unknown" });
    client.fail(gatewayError("internal_error", "The gateway failed."));
  });
  return client.response;
}

async function whole(
  call: AnswerCall,
  copies: number,
  one: () => Promise<Response>,
  stop: AbortController,
): Promise<Response> {
  let headers: Record<string, string> = {};
  const answers = await each(copies, stop, async (at): Promise<Result<JsonObject, GatewayError>> => {
    const response = await one();
    if (response.status !== 200) return err(await errorOf(response));
    if (at === 0) headers = Object.fromEntries(response.headers);
    return ok(parseLossless(await response.text()) as JsonObject);
  });
  if (!answers.ok) return call.respond(answers.error);
  return new Response(JSON.stringify(mergeAnswers(answers.value)), { headers });
}

async function streamed(
  client: ClientStream,
  copies: number,
  one: () => Promise<Response>,
  stop: AbortController,
): Promise<void> {
  const merge = createMerge();
  const read = await each(copies, stop, async (at): Promise<Result<undefined, GatewayError>> => {
    const response = await one();
    if (response.status !== 200) return err(await errorOf(response));
    return relay(response, at, merge, client);
  });
  if (!read.ok) return client.fail(read.error);
  await client.write(utf8.encode(merge.end() + encodeEvent(DONE)));
  client.close();
}

/** Runs `work` for 0, 1, ... `count - 1`, a few at a time, until all are done or one has failed. */
export async function each<T>(
  count: number,
  stop: AbortController,
  work: (at: number) => Promise<Result<T, GatewayError>>,
): Promise<Result<T[], GatewayError>> {
  const results: T[] = [];
  let failure: GatewayError | undefined;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count && failure === undefined) {
      const at = next++;
      const result = await work(at);
      if (result.ok) results[at] = result.value;
      else {
        // What the others say now is only that they were called off.
        failure ??= result.error;
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, worker));
  return failure === undefined ? ok(results) : err(failure);
}

/** Reads one of the streams to its end, and writes what it says as the choice at its place. */
async function relay(
  response: Response,
  at: number,
  merge: Merge,
  client: ClientStream,
): Promise<Result<undefined, GatewayError>> {
  const decoder = createSseDecoder(MAX_EVENT_BYTES);
  let out = "";
  let failure: GatewayError | undefined;
  const visitor = {
    text: (): undefined => undefined,
    known: (_text: string, at: number): number => at,
    event({ data }: { readonly data: string }): void {
      if (data === DONE || failure !== undefined) return;
      const chunk = parseLossless(data) as JsonObject;
      if (isObject(chunk["error"])) failure = { status: 502, error: chunk["error"] as unknown as WireError };
      else out += merge.take(at, chunk);
    },
  };
  if (response.body === null) return ok(undefined);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  if (at === 0) client.addHeaders(keptOf(response));
  for (;;) {
    const next = await reader.read();
    if (next.done) break;
    decoder.visit(next.value, visitor);
    if (out !== "" && !(await client.write(utf8.encode(out)))) break;
    out = "";
  }
  decoder.flush(visitor);
  return failure === undefined ? ok(undefined) : err(failure);
}

export async function errorOf(response: Response): Promise<GatewayError> {
  const { error } = (await response.json()) as { error: WireError };
  return { status: response.status, error, headers: keptOf(response) };
}

export function keptOf(response: Response): Record<string, string> {
  const { "content-type": _type, "content-length": _length, ...kept } = Object.fromEntries(response.headers);
  return kept;
}

const utf8 = new TextEncoder();
