import type { Context } from "hono";
import { passThrough } from "../../gateway/pass-through.ts";
import { parsePlainRequest } from "../../protocol/request-body.ts";
import { besideUrl } from "../../upstream/beside.ts";
import { changedHeader, PLAIN_RULES, shapeRequest } from "../../upstream/shaping/shape.ts";
import { askedFor, portsOf, withHeaders } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import type { PassedEndpoint } from "../passed-endpoints.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

/** An endpoint with a JSON body whose answer passes as it comes. */
export function passed(
  { endpoint, beside, answer, defaultModel }: PassedEndpoint,
  tenantOf: TenantOf,
): (c: Context<AppEnvironment>) => Promise<Response> {
  return async (c) => {
    const asked = await askedFor(c, tenantOf, endpoint, (text) => parsePlainRequest(text, defaultModel));
    if (!asked.ok) return errorResponse(asked.error);
    const { tenant, target, request, reportedModel } = asked.value;
    const { text, body, model } = request;
    // A tenant's defaults are about answers in words.
    const shaped = shapeRequest({ text, body, target, tenant, defaults: {} }, PLAIN_RULES);
    if (!shaped.ok) return errorResponse(shaped.error);
    const there = target.model ?? model;
    const call = {
      tenant: tenant.id,
      target,
      model,
      reportedModel,
      url: beside === undefined ? target.urlOf(endpoint, there) : besideUrl(target, endpoint, beside, there),
      body: shaped.value.text,
      contentType: "application/json",
      answer,
      requestId: c.get("requestId"),
      respond: errorResponse,
    };
    return withHeaders(await passThrough(call, portsOf(c)), changedHeader(shaped.value.changed));
  };
}
