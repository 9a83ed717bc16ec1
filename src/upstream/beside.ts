import type { Endpoint } from "./provider.ts";
import type { Target } from "./target.ts";

/** The URL of a path that lies beside the `/v1` of a base URL, not below it. @param endpoint the one that it is a spelling of */
export function besideUrl(target: Target, endpoint: Endpoint, path: string, model: string): string {
  const url = new URL(target.urlOf(endpoint, model));
  const base = url.pathname.endsWith(endpoint) ? url.pathname.slice(0, -endpoint.length) : url.pathname;
  url.pathname = base.replace(/\/v1$/, "") + path;
  return url.href;
}
