import type { MiddlewareHandler } from "hono";
import { gatewayError } from "../../protocol/errors.ts";
import type { Config } from "../../tenants/config.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";

type Current = (
  bindings: Record<string, unknown>,
  background: (work: Promise<void>) => void,
) => Config | undefined | Promise<Config | undefined>;

/** Finds the configuration. Without a valid one nothing can be served; why not is in the log, not in the answer. */
export const configuration = (current: Current): MiddlewareHandler<AppEnvironment> =>
  async function configuration(c, next) {
    const found = current(c.env, (work) => c.executionCtx.waitUntil(work));
    const config = found instanceof Promise ? await found : found;
    if (config === undefined)
      return errorResponse(gatewayError("gateway_not_configured", "The gateway is not configured."));
    c.set("config", config);
    return next();
  };
