import { createHash } from "node:crypto";

export const gatewayKey = "sk-vllm-suite";
export const serverKey = "k1";

/** What the gateway finds in its environment. `ABSENT_KEY` is named below and missing here on purpose. */
export const secrets = { VLLM_KEY: serverKey, WRONG_KEY: "k2" } as const;

/** A name that only the platform knows: no tenant may ever read it. */
export const privateModelName = "platform-internal-name";

export interface Route {
  readonly targets: readonly Readonly<Record<string, unknown>>[];
}

export const routes: Readonly<Record<string, Route>> = {
  tiny: { targets: [{ upstream: "parsers", model: "tiny" }] },
  "tiny-reframed": { targets: [{ upstream: "parsers-whole", model: "tiny" }] },
  "tiny-aggregated": { targets: [{ upstream: "parsers-streaming", model: "tiny" }] },
  plain: { targets: [{ upstream: "plain", model: "tiny" }] },
  "plain-patient": { targets: [{ upstream: "plain", model: "tiny", keep_alive_ms: 300 }] },
  "plain-hasty": { targets: [{ upstream: "plain", model: "tiny", first_event_ms: 700, total_ms: 700 }] },
  misnamed: { targets: [{ upstream: "parsers", model: privateModelName }] },
  "as-asked-*": { targets: [{ upstream: "parsers" }] },
  locked: { targets: [{ upstream: "locked", model: "tiny" }] },
  keyless: { targets: [{ upstream: "keyless", model: "tiny" }] },
  "credential-absent": { targets: [{ upstream: "credential-absent", model: "tiny" }] },
};

/** The gateway's document: two servers, reached in every way that a configuration can ask for. */
export function gatewayConfig(parsersUrl: string, plainUrl: string): Readonly<Record<string, unknown>> {
  const parsers = { provider: "vllm", base_url: `${parsersUrl}/v1`, credential: "VLLM_KEY" };
  return {
    tenant_header: "x-tenant",
    auth: "key",
    upstreams: {
      parsers,
      "parsers-whole": { ...parsers, capabilities: { streaming: false } },
      "parsers-streaming": { ...parsers, prefer_stream: true },
      // Without `/v1`, and slower to send comments than any silence of the suite: what comes through is the server's.
      plain: { provider: "vllm", base_url: `${plainUrl}/`, keep_alive_ms: 60_000 },
      locked: { ...parsers, credential: "WRONG_KEY" },
      keyless: { provider: "vllm", base_url: `${parsersUrl}/v1` },
      "credential-absent": { ...parsers, credential: "ABSENT_KEY" },
    },
    routes,
    tenants: {
      suite: { keys: [`sha256:${createHash("sha256").update(gatewayKey).digest("hex")}`], models: Object.keys(routes) },
    },
  };
}
