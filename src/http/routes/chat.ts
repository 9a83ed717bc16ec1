import type { Context } from "hono";
import { complete, type AnswerCall } from "../../gateway/complete.ts";
import { completeEach } from "../../gateway/fan-out.ts";
import { inlineImages } from "../../gateway/images.ts";
import type { Ports } from "../../gateway/ports.ts";
import { chatForm } from "../../protocol/chat/form.ts";
import { combinationOf, parseChatRequest } from "../../protocol/chat/request.ts";
import type { GatewayError } from "../../protocol/errors.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { routeOf } from "../../tenants/models.ts";
import { modelNotFound } from "../../upstream/failure.ts";
import type { Shaped } from "../../upstream/shaping/draft.ts";
import { changedHeader, shapeRequest } from "../../upstream/shaping/shape.ts";
import type { StreamingMemory } from "../../upstream/streaming-memory.ts";
import type { Target } from "../../upstream/target.ts";
import { requestText } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import { createPorts } from "../ports.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

/** `POST /v1/chat/completions`: who asks, what for, of whom; then the main path. */
export function chatCompletions(
  tenantOf: TenantOf,
  memory: StreamingMemory,
): (c: Context<AppEnvironment>) => Promise<Response> {
  return async (c) => {
    const request = c.req.raw;
    const { config, requestId } = c.var;
    const tenant = await tenantOf(request, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    const text = await requestText(c);
    if (!text.ok) return errorResponse(text.error);
    const parsed = parseChatRequest(text.value);
    if (!parsed.ok) return errorResponse(parsed.error);
    const [target] = routeOf(config, tenant.value, parsed.value.model)?.targets ?? [];
    if (target === undefined) return errorResponse(modelNotFound(parsed.value.model));
    const { body, shape } = parsed.value;
    const { defaults } = tenant.value;
    const ports = createPorts(c.env, (promise) => c.executionCtx.waitUntil(promise));
    const asked = shapeRequest({ text: text.value, body, target, tenant: tenant.value, defaults });
    if (!asked.ok) return errorResponse(asked.error);
    const shaped = await withImages(asked.value, target, ports, request.signal);
    if (!shaped.ok) return errorResponse(shaped.error);
    const { copies } = shaped.value;
    const call: AnswerCall = {
      tenant: tenant.value.id,
      target,
      endpoint: "/chat/completions",
      body: shaped.value.text,
      model: parsed.value.model,
      stream: parsed.value.stream,
      options: body["stream_options"] !== undefined && body["stream_options"] !== null,
      hasTools: shape.toolNames.length > 0,
      combination: combinationOf(body),
      form: chatForm(copies > 1 ? { ...shape, n: 1 } : shape),
      requestId,
      clientGone: request.signal,
      respond: errorResponse,
    };
    const answer = copies > 1 ? completeEach(call, copies, ports, memory) : complete(call, ports, memory);
    return told(await answer, changedHeader(shaped.value.changed));
  };
}

/** For a server that fetches no images itself. */
async function withImages(
  shaped: Shaped,
  target: Target,
  ports: Ports,
  leave: AbortSignal,
): Promise<Result<Shaped, GatewayError>> {
  const fetch = target.capabilities.image_urls ? undefined : ports.fetcherOf(undefined);
  return fetch === undefined ? ok(shaped) : inlineImages(shaped, target, fetch, leave);
}

function told(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
