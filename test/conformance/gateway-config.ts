// The gateway's configuration document for a replay: one upstream for everything, and a route of its own for each case
// that needs another setting.
import { createHash } from "node:crypto";
import type { Case } from "./cases.ts";

export const CLIENT_KEY = "sk-conformance-client";

/** What the upstream entry says for cases with this need. Needs without an entry are not built yet. */
const SETTINGS: Readonly<Record<string, object>> = {
  "idle-3s": { first_event_ms: 3000, idle_ms: 3000 },
  "keepalive-1s": { keep_alive_ms: 1000 },
  "think-split": { text: { reasoning: "think" } },
  cumulative: { capabilities: { cumulative: true } },
  "text-only": { capabilities: { content_parts: false } },
  "no-stream-with-tools": { capabilities: { streaming_with_tools: false } },
};

export function gatewayConfig(cases: readonly Case[], upstreamPort: number): object {
  const common = { provider: "openai-compatible", base_url: `http://127.0.0.1:${upstreamPort}/v1` };
  const upstreams: Record<string, object> = { mock: common };
  const routes: Record<string, object> = { "case-*": { targets: [{ upstream: "mock" }] } };
  for (const one of cases) {
    for (const need of one.needs ?? []) {
      const settings = SETTINGS[need];
      if (!settings) continue;
      upstreams[need] = { ...common, ...settings };
      routes[`case-${one.id}-*`] = { targets: [{ upstream: need }] };
    }
  }
  const hash = createHash("sha256").update(CLIENT_KEY).digest("hex");
  const tenants = { conformance: { keys: [`sha256:${hash}`], models: ["case-*"] } };
  return { tenant_header: "x-tenant", auth: "key", upstreams, routes, tenants };
}
