import type { Context } from "hono";
import { log } from "./log.ts";
import { gatewayError } from "../protocol/errors.ts";
import type { AppEnvironment } from "./environment.ts";
import { errorResponse } from "./respond.ts";

/** A bug of ours: the client learns that much and nothing else. An exception's text may quote what it choked on, so its name has to do. */
export function onError(error: Error, c: Context<AppEnvironment>): Response {
  log("internal_error", { request_id: c.get("requestId") ?? "", name: error.name });
  const response = errorResponse(gatewayError("internal_error", "The gateway failed to serve this request."));
  if (c.get("requestId") !== undefined) response.headers.set("x-request-id", c.get("requestId"));
  return response;
}
