import type { Context } from "hono";
import { passThrough } from "../../gateway/pass-through.ts";
import { parsePlainRequest } from "../../protocol/request-body.ts";
import { besideUrl } from "../../upstream/beside.ts";
import type { Endpoint } from "../../upstream/provider.ts";
import { changedHeader, PLAIN_RULES, shapeRequest } from "../../upstream/shaping/shape.ts";
import { askedFor, portsOf, withHeaders } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

export interface PassedEndpoint {
  /** As clients name it. */
  readonly paths: readonly string[];
  readonly endpoint: Endpoint;
  /** The path beside the `/v1` of a base URL, where the endpoint lies there. */
  readonly beside?: string;
  readonly answer: "json" | "any";
  /** The model that is meant where a request may leave it out. */
  readonly defaultModel?: string;
}

/** Every endpoint that passes, and the only paths that are ever asked of an upstream beside those with a file of their own. */
export const PASSED: readonly PassedEndpoint[] = [
  { paths: ["/v1/rerank"], endpoint: "/rerank", answer: "json" },
  { paths: ["/v2/rerank"], endpoint: "/rerank", beside: "/v2/rerank", answer: "json" },
  { paths: ["/rerank"], endpoint: "/rerank", beside: "/rerank", answer: "json" },
  { paths: ["/v1/score"], endpoint: "/score", answer: "json" },
  { paths: ["/score"], endpoint: "/score", beside: "/score", answer: "json" },
  { paths: ["/tokenize"], endpoint: "/tokenize", beside: "/tokenize", answer: "json" },
  { paths: ["/detokenize"], endpoint: "/detokenize", beside: "/detokenize", answer: "json" },
  {
    paths: ["/v1/moderations", "/moderations"],
    endpoint: "/moderations",
    answer: "json",
    defaultModel: "omni-moderation-latest",
  },
  { paths: ["/v1/images/generations", "/images/generations"], endpoint: "/images/generations", answer: "any" },
  { paths: ["/v1/audio/speech", "/audio/speech"], endpoint: "/audio/speech", answer: "any" },
];

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
      requestId: c.var.requestId,
      clientGone: c.req.raw.signal,
      respond: errorResponse,
    };
    return withHeaders(await passThrough(call, portsOf(c)), changedHeader(shaped.value.changed));
  };
}
