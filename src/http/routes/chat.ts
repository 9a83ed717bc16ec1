import type { Context } from "hono";
import { complete, type AnswerCall } from "../../gateway/complete.ts";
import { chatForm } from "../../protocol/chat/form.ts";
import { combinationOf, parseChatRequest } from "../../protocol/chat/request.ts";
import { routeOf } from "../../tenants/models.ts";
import { modelNotFound } from "../../upstream/failure.ts";
import { bodyFor } from "../../upstream/request.ts";
import type { StreamingMemory } from "../../upstream/streaming-memory.ts";
import { readBody } from "../body.ts";
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
    const tenant = tenantOf(request, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    const text = await readBody(request, config.maxBodyBytes);
    if (!text.ok) return errorResponse(text.error);
    const parsed = parseChatRequest(text.value);
    if (!parsed.ok) return errorResponse(parsed.error);
    const [target] = routeOf(config, tenant.value, parsed.value.model)?.targets ?? [];
    if (target === undefined) return errorResponse(modelNotFound(parsed.value.model));
    const { body, shape } = parsed.value;
    const call: AnswerCall = {
      tenant: tenant.value.id,
      target,
      endpoint: "/chat/completions",
      body: bodyFor(text.value, body, tenant.value.defaults, target),
      model: parsed.value.model,
      stream: parsed.value.stream,
      options: body["stream_options"] !== undefined && body["stream_options"] !== null,
      hasTools: shape.toolNames.length > 0,
      combination: combinationOf(body),
      form: chatForm(shape),
      requestId,
      clientGone: request.signal,
      respond: errorResponse,
    };
    return complete(
      call,
      createPorts(c.env, (promise) => c.executionCtx.waitUntil(promise)),
      memory,
    );
  };
}
