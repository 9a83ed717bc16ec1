import type { MiddlewareHandler } from "hono";
import { gatewayError } from "../../protocol/errors.ts";
import type { Config } from "../../tenants/config.ts";
import { drain } from "../body.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import { allowOrigin } from "./cors.ts";

type Current = (
  bindings: Record<string, unknown>,
  background: (work: Promise<void>) => void,
) => Config | undefined | Promise<Config | undefined>;

const ACCEPTED = /^[\w.:=+/-]{1,128}$/;

/**
 * What every request goes through: it gets an id (the client's own, if that is one; it is for logs here, upstreams get another) and
 * the configuration, without which nothing can be served; why there is none is in the log, not in the answer. One middleware in
 * place of three: each costs a small request as much as finding its tenant.
 */
export const front = (current: Current): MiddlewareHandler<AppEnvironment> =>
  async function front(c, next) {
    const given = c.req.raw.headers.get("x-request-id");
    const id = given !== null && ACCEPTED.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`;
    c.set("requestId", id);
    const found = current(c.env, (work) => c.executionCtx.waitUntil(work));
    const config = found instanceof Promise ? await found : found;
    if (config === undefined) {
      c.res = errorResponse(gatewayError("gateway_not_configured", "The gateway is not configured."));
    } else {
      c.set("config", config);
      await next();
    }
    if (c.res.status >= 400) c.executionCtx.waitUntil(drain(c.req.raw));
    const { headers } = c.res;
    headers.set("x-request-id", id);
    // Only a browser says where a page is from; everybody else is spared the headers.
    if (c.req.raw.headers.has("origin")) allowOrigin(headers);
  };
