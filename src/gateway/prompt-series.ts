import type { AnswerForm } from "../protocol/answer-form.ts";
import { joinedText, textSeries, type SeriesShape } from "../protocol/completions/series.ts";
import { gatewayError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { parseLossless } from "../protocol/json/lossless.ts";
import type { StreamingMemory } from "../upstream/streaming-memory.ts";
import { createClientStream, type ClientStream } from "./client-stream.ts";
import { complete, identityOf, type AnswerCall } from "./complete.ts";
import { errorOf, keptOf, NEVER_MS } from "./fan-out.ts";
import type { Ports } from "./ports.ts";

/**
 * Several prompts for a server that takes one at a time: they are asked one after the other, and the client reads one answer.
 * @param call what is the same for all of them; its form is not looked at
 * @param bodies one for each request, in the order of their choices
 */
export async function completeInTurn(
  call: AnswerCall,
  bodies: readonly string[],
  shape: SeriesShape,
  ports: Ports,
  memory: StreamingMemory,
): Promise<Response> {
  // Each of them is a part of an answer, and nobody's to keep alive: the whole is.
  const target = { ...call.target, deadlines: { ...call.target.deadlines, keep_alive_ms: NEVER_MS } };
  const forms = textSeries(shape, identityOf(call, ports));
  const stop = new AbortController();
  const ask = (at: number, form: AnswerForm): Promise<Response> =>
    complete({ ...call, target, body: bodies[at] as string, form, calledOff: stop.signal }, ports, memory);
  if (!call.stream) return whole(forms, shape, ask);

  const { keep_alive_ms: keepAliveMs } = call.target.deadlines;
  const client = createClientStream({
    keepAliveMs,
    now: ports.now,
    respond: call.respond,
    gone: () => stop.abort(),
  });
  streamed(client, forms, ask).catch((bug: unknown) => {
    ports.log("internal_error", { request_id: call.requestId, name: bug instanceof Error ? bug.name : "unknown" });
    client.fail(gatewayError("internal_error", "The gateway failed."));
  });
  return client.response;
}

type Ask = (at: number, form: AnswerForm) => Promise<Response>;

async function whole(forms: readonly AnswerForm[], shape: SeriesShape, ask: Ask): Promise<Response> {
  const bodies: JsonObject[] = [];
  let headers: Record<string, string> = {};
  for (const [at, form] of forms.entries()) {
    const response = await ask(at, form);
    if (response.status !== 200) return response;
    headers = { ...keptOf(response), ...headers };
    bodies.push(parseLossless(await response.text()) as JsonObject);
  }
  const text = JSON.stringify(joinedText(bodies, shape));
  return new Response(text, { headers: { ...headers, "content-type": "application/json" } });
}

async function streamed(client: ClientStream, forms: readonly AnswerForm[], ask: Ask): Promise<void> {
  for (const [at, form] of forms.entries()) {
    const { watched, isComplete } = watch(form);
    const response = await ask(at, watched);
    if (response.status !== 200) return client.fail(await errorOf(response));
    if (at === 0) client.addHeaders(keptOf(response));
    if (response.body === null) continue;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const next = await reader.read();
      if (next.done) break;
      if (!(await client.write(next.value))) return;
    }
    // Its last event was the error that ends the whole.
    if (!isComplete()) break;
  }
  client.close();
}

/** The same form, and whether it has written an answer to its end. */
function watch(form: AnswerForm): { watched: AnswerForm; isComplete: () => boolean } {
  let complete = (): boolean => false;
  return {
    isComplete: () => complete(),
    watched: {
      ...form,
      stream(identity) {
        const stream = form.stream(identity);
        complete = () => stream.state.outcome?.kind === "complete";
        return stream;
      },
      reframed(answer) {
        complete = () => true;
        return form.reframed(answer);
      },
    },
  };
}
