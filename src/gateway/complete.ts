import type { AnswerForm } from "../protocol/answer-form.ts";
import type { Failure } from "../protocol/chat/part.ts";
import type { Identity } from "../protocol/chat/types.ts";
import { gatewayError, isOwnCode, type GatewayError } from "../protocol/errors.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { createDeparture, type Departure } from "../upstream/departure.ts";
import { createExchange, type Exchange } from "../upstream/exchange.ts";
import type { Reply } from "../upstream/reply.ts";
import { errorFor } from "../upstream/failure.ts";
import { askingFor, headersFor, secretsOf, type AskedForm } from "../upstream/request.ts";
import type { StreamingMemory } from "../upstream/streaming-memory.ts";
import { planStreaming } from "../upstream/streaming-plan.ts";
import type { Target } from "../upstream/target.ts";
import { createClientStream } from "./client-stream.ts";
import { deliverStream } from "./deliver-stream.ts";
import { gatherAnswer } from "./gather-answer.ts";
import type { Ports } from "./ports.ts";

/** Who asks, of whom. */
export interface Asked {
  readonly tenant: string;
  readonly target: Target;
  /** The model name that the client asked for. */
  readonly model: string;
  /** The model name that the answer shall carry; undefined: the one that the upstream says. */
  readonly reportedModel?: string | undefined;
  readonly requestId: string;
}

/** One request for an answer, ready to be made: who asks, for what, of whom, and what the answer has to look like. */
export interface AnswerCall extends Asked {
  /** The endpoint below the base URL, `/chat/completions`. */
  readonly endpoint: string;
  /** The body for the target, but for the form in which its answer is asked for. */
  readonly body: string;
  /** Whether the client wants a stream, and whether it sent `stream_options`. */
  readonly stream: boolean;
  readonly options: boolean;
  readonly hasTools: boolean;
  /** The fields that a server may refuse to stream with. */
  readonly combination: string;
  readonly form: AnswerForm;
  /** What the answer is to say in its headers, beside what the upstream says. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fires when the whole that this is a part of is given up. That a client has left needs no signal: see `complete`. */
  readonly calledOff?: AbortSignal;
  /** An error as an HTTP response. */
  readonly respond: (error: GatewayError) => Response;
}

/** What one attempt came to. `begun`: a part of the answer has reached the client, so that nothing else can be tried. */
export type Attempted<T> = Result<T, Failure & { readonly begun?: boolean }>;

/**
 * THE MAIN PATH: one answer through the front door, streamed or whole. Nothing of it is promised to outlive the request (`waitUntil`),
 * so the runtime drops it with all that it has asked for as soon as it sees the client leave; listening for that, and then ending
 * things by hand, would cost as much as parsing the body.
 */
export function complete(call: AnswerCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  return call.stream ? streamed(call, ports, memory) : whole(call, ports, memory);
}

async function whole(call: AnswerCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  const departure = call.calledOff && createDeparture(call.calledOff);
  const gathered = await attempts(call, ports, memory, departure, async (exchange, reply, learn) => {
    const answer = await gatherAnswer(exchange, reply, call.target, call.form, identityOf(call, ports), ports.now);
    if (answer.ok) learn();
    return answer;
  });
  departure?.end();
  if (!gathered.ok) return call.respond(failed(call, ports, gathered.error));
  const { text, headers } = gathered.value;
  return new Response(text, { headers: { ...headers, ...call.headers, "content-type": "application/json" } });
}

function streamed(call: AnswerCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  const departure = createDeparture(call.calledOff);
  const keepAliveMs = call.target.deadlines.keep_alive_ms;
  const client = createClientStream({ keepAliveMs, now: ports.now, respond: call.respond, gone: departure.leave });
  if (call.headers !== undefined) client.addHeaders(call.headers);
  const { target, form } = call;
  void attempts(call, ports, memory, departure, (exchange, reply, learn) =>
    deliverStream({ exchange, reply, client, learn, target, form, identity: identityOf(call, ports), ports }),
  )
    .then(
      (delivered) => (delivered.ok ? undefined : client.fail(failed(call, ports, delivered.error))),
      (bug: unknown) => {
        ports.log("internal_error", { request_id: call.requestId, name: bug instanceof Error ? bug.name : "unknown" });
        client.fail(gatewayError("internal_error", "The gateway failed."));
      },
    )
    .finally(departure.end);
  return client.response;
}

/** Asks the target, once more in another form if it refuses the one it was asked in, and never more than the plan allows. */
async function attempts<T>(
  call: AnswerCall,
  ports: Ports,
  memory: StreamingMemory,
  departure: Departure | undefined,
  attempt: (exchange: Exchange, reply: Reply, learn: () => void) => Promise<Attempted<T>>,
): Promise<Attempted<T>> {
  const { target, combination, tenant } = call;
  const key = { tenant, upstream: target.upstream, model: target.model ?? call.model, combination };
  const plan = planStreaming({
    clientStreams: call.stream,
    clientOptions: call.options,
    hasTools: call.hasTools,
    preferStream: target.preferStream,
    capabilities: target.capabilities,
    known: memory.recall(key, ports.now()),
  });
  const learn = (): void => {
    if (plan.learned !== undefined) memory.learn(key, plan.learned, ports.now());
  };
  for (;;) {
    const exchange = prepare(call, ports, departure, plan.form);
    if (!exchange.ok) return exchange;
    try {
      const reply = await exchange.value.open();
      const result: Attempted<T> = reply.ok ? await attempt(exchange.value, reply.value, learn) : reply;
      if (result.ok || result.error.begun || result.error.report === undefined) return result;
      if (!plan.revise(result.error.report)) return result;
    } finally {
      exchange.value.close();
    }
  }
}

function prepare(
  call: AnswerCall,
  ports: Ports,
  departure: Departure | undefined,
  form: AskedForm,
): Result<Exchange, Failure> {
  const { target, endpoint, body } = call;
  const fetch = ports.fetcherOf(target.binding);
  if (fetch === undefined) return err({ error: BINDING_MISSING });
  const headers = headersFor(target, form, ports.newId("sluice-"), ports.secretOf);
  if (!headers.ok) return err({ error: headers.error });
  const request = {
    url: target.urlOf(endpoint, target.model ?? call.model),
    headers: headers.value,
    body: askingFor(form, body, call.stream),
  };
  return ok(createExchange({ request, target, stream: form.stream, fetch, now: ports.now, departure }));
}

export const BINDING_MISSING = gatewayError(
  "binding_missing",
  "The gateway cannot reach this model's upstream: a binding is missing. This is for its operator to mend.",
);

export const identityOf = (call: Asked, ports: Ports): Identity => ({
  created: Math.floor(ports.now() / 1000),
  model: call.target.model ?? call.model,
  reportedModel: call.reportedModel,
  newId: ports.newId,
});

/** The error for the client; the log gets its code and whose it was, never its words. */
export function failed(call: Asked, ports: Ports, failure: Failure): GatewayError {
  const error = errorFor(failure, call.target, call.model, secretsOf(call.target, ports.secretOf), call.reportedModel);
  // That somebody has left is no failure to look into.
  if (error.error.code === "client_closed_request") return error;
  ports.log("request_failed", {
    request_id: call.requestId,
    upstream: call.target.upstream,
    status: error.status,
    upstream_status: failure.report?.status ?? 0,
    // A code that is not ours is a text of the upstream's.
    code: isOwnCode(error.error.code) ? error.error.code : "",
  });
  return error;
}
