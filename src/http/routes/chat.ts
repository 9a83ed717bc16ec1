import type { Context } from "hono";
import { complete, type AnswerCall } from "../../gateway/complete.ts";
import { completeEach } from "../../gateway/fan-out.ts";
import { promptOfChat, type LoadRenderer } from "../../gateway/chat-prompt.ts";
import { inlineImages } from "../../gateway/images.ts";
import type { Ports } from "../../gateway/ports.ts";
import { answerShapeOf, type TextReader } from "../../protocol/chat/answer-shape.ts";
import { chatForm } from "../../protocol/chat/form.ts";
import { chatFromCompletions } from "../../protocol/chat/from-completions.ts";
import { combinationOf, parseChatRequest, topLogprobsOf, type ChatRequest } from "../../protocol/chat/request.ts";
import type { GatewayError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json/lossless.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { withDefaults } from "../../upstream/shaping/defaults.ts";
import type { Shaped } from "../../upstream/shaping/draft.ts";
import { changedHeader, shapeRequest } from "../../upstream/shaping/shape.ts";
import type { StreamingMemory } from "../../upstream/streaming-memory.ts";
import type { Target } from "../../upstream/target.ts";
import { askedFor, portsOf, withHeaders } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

/** The parts that are modules of their own, read when a target needs them. */
export interface Modules {
  readonly renderer: LoadRenderer;
  readonly reader: () => Promise<TextReader>;
}

/** `POST /v1/chat/completions`: who asks, what for, of whom; then the main path. */
export function chatCompletions(
  tenantOf: TenantOf,
  memory: StreamingMemory,
  load: Modules,
): (c: Context<AppEnvironment>) => Promise<Response> {
  return async (c) => {
    const asked = await askedFor(c, tenantOf, "/chat/completions", parseChatRequest);
    if (!asked.ok) return errorResponse(asked.error);
    const { tenant, target, reportedModel } = asked.value;
    const request = filled(asked.value.request, tenant.defaults);
    if (!request.ok) return errorResponse(request.error);
    const { text, body, model, stream, shape, changed } = request.value;
    const ports = portsOf(c);
    const shaped = shapeRequest({ text, body, target, tenant, defaults: {}, changed });
    if (!shaped.ok) return errorResponse(shaped.error);
    const templated = target.template !== "none";
    const ready: Result<Shaped & { readonly opened?: boolean }, GatewayError> = templated
      ? await promptOfChat(shaped.value, target, model, load.renderer, ports)
      : await withImages(shaped.value, target, ports);
    if (!ready.ok) return errorResponse(ready.error);
    const { copies, legacyFunctions, opened } = ready.value;
    const wanted = answerShapeOf(shape, body, {
      ...target.text,
      reader: target.text.tools === "none" && target.text.reasoning === "none" ? undefined : await load.reader(),
      model: target.model ?? model,
      fields: tenant.reasoningFields,
      legacyFunctions,
      opened,
      cumulative: target.capabilities.cumulative,
      n: copies > 1 ? 1 : shape.n,
    });
    const requestId = c.get("requestId");
    const headers = { "x-request-id": requestId, ...changedHeader(ready.value.changed) };
    const call: AnswerCall = {
      tenant: tenant.id,
      target,
      endpoint: templated ? "/completions" : "/chat/completions",
      body: ready.value.text,
      model,
      reportedModel,
      stream,
      options: body["stream_options"] !== undefined && body["stream_options"] !== null,
      hasTools: !templated && shape.toolNames.length > 0,
      combination: combinationOf(body) + (templated ? "|prompt" : ""),
      form: templated ? chatFromCompletions(wanted, topLogprobsOf(body)) : chatForm(wanted),
      requestId,
      respond: (error) => errorResponse({ ...error, headers: { ...error.headers, ...headers } }),
      headers,
    };
    if (copies > 1) return withHeaders(await completeEach(call, copies, ports, memory), headers);
    c.set("isNamed", true);
    return complete(call, ports, memory);
  };
}

/** The request as if the client had said what its operator wants it to; what is wrong with that is found like any other fault. */
function filled(
  request: ChatRequest,
  defaults: JsonObject,
): Result<ChatRequest & { readonly changed: readonly string[] }, GatewayError> {
  const { text, changed } = withDefaults(request.text, request.body, defaults);
  if (changed.length === 0) return ok({ ...request, changed });
  const parsed = parseChatRequest(text);
  return parsed.ok ? ok({ ...parsed.value, changed }) : parsed;
}

/** For a server that fetches no images itself. */
async function withImages(shaped: Shaped, target: Target, ports: Ports): Promise<Result<Shaped, GatewayError>> {
  const fetch = target.capabilities.image_urls ? undefined : ports.fetcherOf(undefined);
  return fetch === undefined ? ok(shaped) : inlineImages(shaped, target, fetch);
}
