import type { Context } from "hono";
import type { Ports } from "../gateway/ports.ts";
import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { isObject } from "../protocol/json/lossless.ts";
import { membersOf } from "../protocol/json/members.ts";
import type { RequestBody } from "../protocol/request-body.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { Tenant } from "../tenants/config.ts";
import { routeOf } from "../tenants/models.ts";
import { modelNotFound } from "../upstream/failure.ts";
import type { Endpoint } from "../upstream/provider.ts";
import { serves, type Target } from "../upstream/target.ts";
import { readBody } from "./body.ts";
import type { AppEnvironment } from "./environment.ts";
import { createPorts } from "./ports.ts";
import type { TenantOf } from "./tenant.ts";

/** Where a request is to go: for whom, and to what. */
export interface Routed {
  readonly tenant: Tenant;
  readonly target: Target;
  /** The model name that answers carry; undefined: the one that the upstream says. */
  readonly reportedModel: string | undefined;
}

export interface AskedFor<T extends RequestBody> extends Routed {
  readonly request: T;
}

/** Who asks, what for, of whom: the same for every endpoint with a JSON body. */
export async function askedFor<T extends RequestBody>(
  c: Context<AppEnvironment>,
  tenantOf: TenantOf,
  endpoint: Endpoint,
  parse: (text: string) => Result<T, GatewayError>,
): Promise<Result<AskedFor<T>, GatewayError>> {
  const config = c.get("config");
  const tenant = await tenantOf(c.req.raw, config);
  if (!tenant.ok) return tenant;
  const text = await requestText(c);
  if (!text.ok) return text;
  const request = parse(text.value);
  if (!request.ok) return request;
  const routed = routedTo(c, tenant.value, endpoint, request.value.model);
  return routed.ok ? ok({ ...routed.value, request: request.value }) : routed;
}

export function routedTo(
  c: Context<AppEnvironment>,
  tenant: Tenant,
  endpoint: Endpoint,
  model: string,
): Result<Routed, GatewayError> {
  const route = routeOf(c.get("config"), tenant, model);
  const [target] = route?.targets ?? [];
  if (route === undefined || target === undefined) return err(modelNotFound(model));
  const reportedModel = route.reportModel === "requested" ? model : undefined;
  return serves(target, endpoint) ? ok({ tenant, target, reportedModel }) : err(NOT_SERVED);
}

const NOT_SERVED = gatewayError("endpoint_not_supported", "The upstream of this model does not serve this endpoint.");

/** The body of a request. Where its path names the model (`/openai/deployments/{model}/...`), that one counts. */
export async function requestText(c: Context<AppEnvironment>): Promise<Result<string, GatewayError>> {
  const text = await readBody(c.req.raw, c.get("config").maxBodyBytes);
  const model = c.req.param("deployment");
  return text.ok && model !== undefined ? ok(withModel(text.value, model)) : text;
}

function withModel(text: string, model: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text) as JsonObject;
  } catch {
    // What it is instead of JSON is told where it is parsed.
    return text;
  }
  if (!isObject(body) || body["model"] === model) return text;
  const members = membersOf(text);
  members.set("model", JSON.stringify(model));
  return members.toText();
}

export const portsOf = (c: Context<AppEnvironment>): Ports =>
  createPorts(c.env, (promise) => c.executionCtx.waitUntil(promise));

export function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
