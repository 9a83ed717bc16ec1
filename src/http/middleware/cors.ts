import type { MiddlewareHandler } from "hono";
import type { AppEnvironment } from "../environment.ts";

const EXPOSED =
  "x-request-id, retry-after, retry-after-ms, x-should-retry, x-ratelimit-limit-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-requests, x-ratelimit-remaining-tokens, x-ratelimit-reset-requests, x-ratelimit-reset-tokens, openai-processing-ms";
const USUAL_HEADERS = "authorization, api-key, content-type, x-request-id";
const NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/**
 * Browsers may call from anywhere: what a request may do hangs on its key, which no browser sends by itself. The SDKs' many headers
 * (`x-stainless-*`) are allowed by being repeated, since a wildcard would not cover `authorization`.
 */
export const cors: MiddlewareHandler<AppEnvironment> = async function cors(c, next): Promise<Response | undefined> {
  if (c.req.method === "OPTIONS") {
    const asked = c.req.raw.headers.get("access-control-request-headers");
    return new Response(null, {
      status: 204,
      headers: {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
        "access-control-allow-headers": asked !== null && NAMES.test(asked) ? asked : USUAL_HEADERS,
        "access-control-max-age": "86400",
        vary: "access-control-request-headers",
        allow: "GET, HEAD, POST, OPTIONS",
      },
    });
  }
  await next();
  // Only a browser says where a page is from; everybody else is spared the headers.
  if (c.req.raw.headers.get("origin") === null) return undefined;
  c.res.headers.set("access-control-allow-origin", "*");
  c.res.headers.set("access-control-expose-headers", EXPOSED);
  c.res.headers.append("vary", "origin");
  return undefined;
};
