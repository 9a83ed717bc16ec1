import type { MiddlewareHandler } from "hono";
import type { AppEnvironment } from "../environment.ts";

const ACCEPTED = /^[\w.:=+/-]{1,128}$/;

/** Gives every request an id, the client's own if it is one, and says it in the answer. It is for logs here: upstreams get another. */
export const requestId: MiddlewareHandler<AppEnvironment> = async function requestId(c, next) {
  const given = c.req.raw.headers.get("x-request-id");
  const id = given !== null && ACCEPTED.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`;
  c.set("requestId", id);
  await next();
  c.res.headers.set("x-request-id", id);
};
