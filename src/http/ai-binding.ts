import { createSseDecoder, type EventVisitor } from "../protocol/sse/decode.ts";
import { DONE, encodeEvent } from "../protocol/sse/encode.ts";
import { MAX_EVENT_BYTES } from "../protocol/answer-form.ts";
import { isObject, type JsonObject } from "../protocol/json/lossless.ts";
import type { Fetch } from "../gateway/ports.ts";

/** An AI binding: it runs a model by its name, with the members of a request. */
export interface AiBinding {
  run(model: string, inputs: JsonObject, options: { readonly returnRawResponse: true }): Promise<unknown>;
}

// A service binding seems to have every method, and the runtime's own `Ai` has a `fetch` that leads elsewhere.
export const isAiBinding = (value: unknown): value is AiBinding =>
  typeof value === "object" &&
  value !== null &&
  "run" in value &&
  typeof value.run === "function" &&
  (!("fetch" in value) || value.constructor.name === "Ai");

/**
 * An AI binding behind the same door as any other upstream. Some of its models answer as OpenAI does; the others say `response` and
 * `tool_calls` at the top, whole and in each event, which is put into a message or a delta here. The rest is repaired where all is.
 */
export const fetchOfAi =
  (ai: AiBinding): Fetch =>
  async (url, init) => {
    const { model, ...inputs } = JSON.parse(init.body as string) as JsonObject & { model: string };
    let answer: unknown;
    try {
      answer = await ai.run(model, inputs, { returnRawResponse: true });
    } catch (error) {
      return Response.json({ error: { message: error instanceof Error ? error.message : "" } }, { status: 502 });
    }
    // An older runtime does not know the option.
    const response = answer instanceof Response ? answer : responseOf(answer);
    if (!response.ok || response.body === null || !url.endsWith("/chat/completions")) return response;
    return (response.headers.get("content-type") ?? "").includes("text/event-stream")
      ? new Response(response.body.pipeThrough(events()), { headers: { "content-type": "text/event-stream" } })
      : Response.json(completionOf((await response.json()) as unknown));
  };

const responseOf = (answer: unknown): Response =>
  answer instanceof ReadableStream
    ? new Response(answer, { headers: { "content-type": "text/event-stream" } })
    : Response.json(answer);

/** The REST API wraps its results; a binding does not. */
function completionOf(answer: unknown): unknown {
  const body = isObject(answer) && isObject(answer["result"]) ? answer["result"] : answer;
  if (!isObject(body) || body["choices"] !== undefined || !isNative(body)) return body;
  const { response, tool_calls, ...rest } = body;
  const calls = callsOf(tool_calls);
  const message = { role: "assistant", content: textOf(response), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return { ...rest, choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }] };
}

const isNative = (body: JsonObject): boolean => body["response"] !== undefined || body["tool_calls"] !== undefined;

const textOf = (value: unknown): unknown =>
  typeof value === "string" || value === null || value === undefined ? (value ?? null) : JSON.stringify(value);

/** Calls without the level of `function`. */
const callsOf = (calls: unknown): unknown[] =>
  Array.isArray(calls)
    ? calls.map((call: unknown) =>
        isObject(call) && !isObject(call["function"])
          ? { ...(typeof call["id"] === "string" ? { id: call["id"] } : {}), type: "function", function: call }
          : call,
      )
    : [];

function events(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = createSseDecoder(MAX_EVENT_BYTES);
  const utf8 = new TextEncoder();
  let out = "";
  let calls = 0;
  let native = false;
  let finished = false;
  const choice = (delta: object, finish: string | null): JsonObject => ({ index: 0, delta, finish_reason: finish });
  const visitor: EventVisitor = {
    text: () => undefined,
    known: (_text, at) => at,
    event({ data }): void {
      if (data === DONE) {
        // The end says nothing of how it came about.
        if (native && !finished) write({ choices: [choice({}, calls > 0 ? "tool_calls" : "stop")] });
        out += encodeEvent(DONE);
        return;
      }
      const chunk = parsed(data);
      if (!isObject(chunk) || chunk["choices"] !== undefined || !isNative(chunk)) {
        out += encodeEvent(data);
        return;
      }
      native = true;
      const { response, tool_calls, p: _padding, finish_reason, ...rest } = chunk;
      const made = callsOf(tool_calls).map((call) => ({ ...(call as object), index: calls++ }));
      const finish = typeof finish_reason === "string" ? finish_reason : null;
      finished ||= finish !== null;
      const delta = { content: textOf(response) ?? "", ...(made.length > 0 ? { tool_calls: made } : {}) };
      write({ ...rest, choices: [choice(delta, finish)] });
    },
  };
  const write = (chunk: JsonObject): void => {
    out += encodeEvent(JSON.stringify(chunk));
  };
  return new TransformStream({
    transform(bytes, controller): void {
      decoder.visit(bytes, visitor);
      if (out !== "") controller.enqueue(utf8.encode(out));
      out = "";
    },
    flush(controller): void {
      decoder.flush(visitor);
      if (out !== "") controller.enqueue(utf8.encode(out));
    },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
