import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { Failure } from "../protocol/chat/part.ts";
import { combinationOf, type ChatRequest } from "../protocol/chat/request.ts";
import type { Identity } from "../protocol/chat/types.ts";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createExchange, type Exchange, type Reply } from "../upstream/exchange.ts";
import { errorFor } from "../upstream/failure.ts";
import { bodyFor, headersFor, type AskedForm } from "../upstream/request.ts";
import type { StreamingMemory } from "../upstream/streaming-memory.ts";
import { planStreaming } from "../upstream/streaming-plan.ts";
import type { Target } from "../upstream/target.ts";
import { createClientStream } from "./client-stream.ts";
import type { Ports } from "./ports.ts";
import { deliverStream } from "./deliver-stream.ts";
import { gatherAnswer } from "./gather-answer.ts";

/** One chat completion, ready to be made: who asks, for what, of whom. */
export interface ChatCall {
  readonly request: ChatRequest;
  readonly tenant: string;
  /** Request fields for those that the client left out. */
  readonly defaults: JsonObject;
  readonly target: Target;
  readonly requestId: string;
  /** Fires when the client has left. */
  readonly clientGone: AbortSignal;
  /** An error as an HTTP response. */
  readonly respond: (error: GatewayError) => Response;
}

/** What one attempt came to. `begun`: a part of the answer has reached the client, so that nothing else can be tried. */
export type Attempted<T> = Result<T, Failure & { readonly begun?: boolean }>;

/** THE MAIN PATH: one chat completion through the front door, streamed or whole. */
export function completeChat(call: ChatCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  return call.request.stream ? streamed(call, ports, memory) : whole(call, ports, memory);
}

async function whole(call: ChatCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  const gathered = await attempts(call, ports, memory, call.clientGone, async (exchange, reply, learn) => {
    const answer = await gatherAnswer(
      exchange,
      reply,
      call.target,
      call.request.shape,
      identityOf(call, ports),
      ports.now,
    );
    if (answer.ok) learn();
    return answer;
  });
  if (!gathered.ok) return call.respond(failed(call, ports, gathered.error));
  const { text, headers } = gathered.value;
  return new Response(text, { headers: { ...headers, "content-type": "application/json" } });
}

function streamed(call: ChatCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  const departed = new AbortController();
  const leave = (): void => departed.abort();
  call.clientGone.addEventListener("abort", leave);
  const { keep_alive_ms } = call.target.deadlines;
  const client = createClientStream({ keepAliveMs: keep_alive_ms, now: ports.now, respond: call.respond, gone: leave });
  const work = attempts(call, ports, memory, departed.signal, (exchange, reply, learn) =>
    deliverStream({
      exchange,
      reply,
      client,
      learn,
      target: call.target,
      shape: call.request.shape,
      identity: identityOf(call, ports),
      now: ports.now,
    }),
  )
    .then(
      (delivered) => (delivered.ok ? undefined : client.fail(failed(call, ports, delivered.error))),
      (bug: unknown) => {
        ports.log("internal_error", { request_id: call.requestId, name: bug instanceof Error ? bug.name : "unknown" });
        client.fail(gatewayError("internal_error", "The gateway failed."));
      },
    )
    .finally(() => call.clientGone.removeEventListener("abort", leave));
  ports.waitUntil(work);
  return client.response;
}

/** Asks the target, once more in another form if it refuses the one it was asked in, and never more than the plan allows. */
async function attempts<T>(
  call: ChatCall,
  ports: Ports,
  memory: StreamingMemory,
  clientGone: AbortSignal,
  attempt: (exchange: Exchange, reply: Reply, learn: () => void) => Promise<Attempted<T>>,
): Promise<Attempted<T>> {
  const { request, target } = call;
  const key = {
    tenant: call.tenant,
    upstream: target.upstream,
    model: target.model ?? request.model,
    combination: combinationOf(request.body),
  };
  const plan = planStreaming({
    clientStreams: request.stream,
    clientOptions: request.body["stream_options"] !== undefined && request.body["stream_options"] !== null,
    hasTools: request.shape.toolNames.length > 0,
    preferStream: target.preferStream,
    capabilities: target.capabilities,
    known: memory.recall(key, ports.now()),
  });
  const learn = (): void => {
    if (plan.learned !== undefined) memory.learn(key, plan.learned, ports.now());
  };
  for (;;) {
    const exchange = prepare(call, ports, clientGone, plan.form);
    if (!exchange.ok) return exchange;
    try {
      const reply = await exchange.value.open();
      const result: Attempted<T> = reply.ok ? await attempt(exchange.value, reply.value, learn) : reply;
      if (result.ok || result.error.begun || result.error.report === undefined || !plan.revise(result.error.report))
        return result;
    } finally {
      exchange.value.close();
    }
  }
}

function prepare(call: ChatCall, ports: Ports, clientGone: AbortSignal, form: AskedForm): Result<Exchange, Failure> {
  const { request, target, defaults } = call;
  const fetch = ports.fetcherOf(target.binding);
  if (fetch === undefined) {
    return err({
      error: gatewayError(
        "binding_missing",
        "The gateway cannot reach this model's upstream: a binding is missing. This is for its operator to mend.",
      ),
    });
  }
  const headers = headersFor(target, form, ports.newId("sluice-"), ports.secretOf);
  if (!headers.ok) return err({ error: headers.error });
  const url = target.urlOf("/chat/completions");
  const body = bodyFor(request.text, request.body, defaults, target, form, request.stream);
  return ok(
    createExchange({
      request: { url, headers: headers.value, body },
      target,
      stream: form.stream,
      fetch,
      now: ports.now,
      clientGone,
    }),
  );
}

const identityOf = (call: ChatCall, ports: Ports): Identity => ({
  created: Math.floor(ports.now() / 1000),
  model: call.target.model ?? call.request.model,
  newId: ports.newId,
});

/** The error for the client; the log gets its code and whose it was, never its words. */
function failed(call: ChatCall, ports: Ports, failure: Failure): GatewayError {
  const error = errorFor(failure, call.target, call.request.model);
  // That somebody has left is no failure to look into.
  if (error.error.code !== "client_closed_request")
    ports.log("request_failed", {
      request_id: call.requestId,
      tenant: call.tenant,
      upstream: call.target.upstream,
      status: error.status,
      upstream_status: failure.report?.status ?? 0,
      code: error.error.code ?? "",
    });
  return error;
}
