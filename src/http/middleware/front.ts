import type { Context } from "hono";
import { gatewayError } from "../../protocol/errors.ts";
import type { Config } from "../../tenants/config.ts";
import { drain } from "../body.ts";
import type { AppEnvironment } from "../environment.ts";
import { newId } from "../ids.ts";
import { errorResponse } from "../respond.ts";
import { allowOrigin } from "./cors.ts";

type Current = (
  bindings: Record<string, unknown>,
  background: (work: Promise<void>) => void,
) => Config | undefined | Promise<Config | undefined>;

export type Handler = (c: Context<AppEnvironment>) => Response | Promise<Response>;

const ACCEPTED = /^[\w.:=+/-]{1,128}$/;

/**
 * What every request goes through: it gets an id (the client's own, if that is one; it is for logs here, upstreams get another) and
 * the configuration, without which nothing can be served; why there is none is in the log, not in the answer. Put around each
 * handler in place of a middleware: a route with a single handler is called directly.
 */
export const front =
  (current: Current) =>
  (handler: Handler): ((c: Context<AppEnvironment>) => Promise<Response>) =>
  async (c) => {
    const request = c.req.raw;
    const given = request.headers.get("x-request-id");
    const id = given !== null && ACCEPTED.test(given) ? given : newId("req_");
    c.set("requestId", id);
    const found = current(c.env, (work) => c.executionCtx.waitUntil(work));
    const config = found instanceof Promise ? await found : found;
    if (config !== undefined) c.set("config", config);
    const response = config === undefined ? errorResponse(NOT_CONFIGURED) : await handler(c);
    if (response.status >= 400) await drained(request, (work) => c.executionCtx.waitUntil(work));
    // A header that is set later costs twice what it does when the response is made.
    if (c.get("isNamed") !== true) response.headers.set("x-request-id", id);
    // Only a browser says where a page is from; everybody else is spared the headers.
    if (request.headers.has("origin")) allowOrigin(response.headers);
    return response;
  };

/** How long a refusal waits for a client that is still sending: most read nothing before they have sent everything. */
const DRAINING_MS = 2000;

async function drained(request: Request, background: (work: Promise<void>) => void): Promise<void> {
  if (request.body === null || request.body.locked) return;
  const work = drain(request);
  background(work);
  await Promise.race([work, new Promise((settle) => setTimeout(settle, DRAINING_MS))]);
}

const NOT_CONFIGURED = gatewayError("gateway_not_configured", "The gateway is not configured.");
