import { joinedEmbeddings } from "../protocol/embeddings/answer.ts";
import { embeddingsForm } from "../protocol/embeddings/form.ts";
import type { VectorFormat } from "../protocol/embeddings/request.ts";
import type { GatewayError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { StreamingMemory } from "../upstream/streaming-memory.ts";
import { complete, type AnswerCall, type Asked } from "./complete.ts";
import { each, errorOf, keptOf } from "./fan-out.ts";
import type { Ports } from "./ports.ts";

export interface EmbedCall extends Asked, Pick<AnswerCall, "respond"> {
  readonly format: VectorFormat;
  /** The requests that the inputs are asked for with, in their order, and how many inputs each has, if that is known. */
  readonly batches: readonly { readonly body: string; readonly count: number | undefined }[];
}

/** Embeddings for a list of inputs: of one request, or of several where the upstream does not take so many at once. */
export async function embed(call: EmbedCall, ports: Ports, memory: StreamingMemory): Promise<Response> {
  const stop = new AbortController();
  const { batches, format, ...asked } = call;
  const ask = (at: number): Promise<Response> => {
    const { body, count } = batches[at] as (typeof batches)[number];
    const form = embeddingsForm({ format, count });
    return complete(
      { ...asked, ...WHOLE, target: unstreamed(call), body, form, calledOff: stop.signal },
      ports,
      memory,
    );
  };
  return batches.length === 1 ? ask(0) : joined(call, ask, stop);
}

const WHOLE = {
  endpoint: "/embeddings",
  stream: false,
  options: false,
  hasTools: false,
  combination: "embeddings",
} as const;

/** That an upstream had better be asked for streams is said of its answers in words. */
const unstreamed = ({ target }: EmbedCall): EmbedCall["target"] => ({ ...target, preferStream: false });

async function joined(
  call: EmbedCall,
  ask: (at: number) => Promise<Response>,
  stop: AbortController,
): Promise<Response> {
  let headers: Record<string, string> = {};
  const bodies = await each(call.batches.length, stop, async (at): Promise<Result<JsonObject, GatewayError>> => {
    const response = await ask(at);
    if (response.status !== 200) return err(await errorOf(response));
    if (at === 0) headers = keptOf(response);
    return ok((await response.json()) as JsonObject);
  });
  if (!bodies.ok) return call.respond(bodies.error);
  return Response.json(joinedEmbeddings(bodies.value), { headers });
}
