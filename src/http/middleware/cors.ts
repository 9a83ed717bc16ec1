const EXPOSED = [
  "x-request-id",
  "x-sluice-changed",
  "x-should-retry",
  "retry-after",
  "retry-after-ms",
  "openai-processing-ms",
  ...["limit", "remaining", "reset"].flatMap((what) => [`x-ratelimit-${what}-requests`, `x-ratelimit-${what}-tokens`]),
].join(", ");
const USUAL_HEADERS = "authorization, api-key, content-type, x-request-id";
const NAMES = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** Browsers may call from anywhere: what a request may do hangs on its key, which no browser sends by itself. */
export function allowOrigin(headers: Headers): void {
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", EXPOSED);
  headers.append("vary", "origin");
}

/** The SDKs' many headers (`x-stainless-*`) are allowed by being repeated, since a wildcard would not cover `authorization`. */
export function preflight(request: Request): Response {
  const asked = request.headers.get("access-control-request-headers");
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
