import type { Context } from "hono";
import { embed } from "../../gateway/embed.ts";
import { parseEmbeddingsRequest, splitInputs } from "../../protocol/embeddings/request.ts";
import { changedHeader, PLAIN_RULES, shapeRequest } from "../../upstream/shaping/shape.ts";
import type { StreamingMemory } from "../../upstream/streaming-memory.ts";
import { askedFor, portsOf, withHeaders } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

/** `POST /v1/embeddings`. */
export function embeddings(
  tenantOf: TenantOf,
  memory: StreamingMemory,
): (c: Context<AppEnvironment>) => Promise<Response> {
  return async (c) => {
    const asked = await askedFor(c, tenantOf, "/embeddings", parseEmbeddingsRequest);
    if (!asked.ok) return errorResponse(asked.error);
    const { request, tenant, target, reportedModel } = asked.value;
    const { text, body, format, inputs, model } = request;
    // A tenant's defaults are about answers in words.
    const shaped = shapeRequest({ text, body, target, tenant, defaults: {} }, PLAIN_RULES);
    if (!shaped.ok) return errorResponse(shaped.error);
    const most = target.capabilities.embedding_inputs;
    const bodies = splitInputs(shaped.value.text, inputs, most);
    const call = {
      tenant: tenant.id,
      target,
      model,
      reportedModel,
      format,
      batches: bodies.map((one, at) => ({
        body: one,
        count: inputs === undefined ? undefined : Math.min(most, inputs.length - at * most),
      })),
      requestId: c.get("requestId"),
      respond: errorResponse,
    };
    return withHeaders(await embed(call, portsOf(c), memory), changedHeader(shaped.value.changed));
  };
}
