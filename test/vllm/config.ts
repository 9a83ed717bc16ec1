import { createHash } from "node:crypto";
import type { ServerUrls } from "./rig.ts";

export const gatewayKey = "sk-vllm-suite";
export const serverKey = "k1";

/** What the gateway finds in its environment. `ABSENT_KEY` is named below and missing here on purpose. */
export const secrets = { VLLM_KEY: serverKey, WRONG_KEY: "k2" } as const;

/** A name that only the platform knows: no tenant may ever read it. */
export const privateModelName = "platform-internal-name";

const openingTemplate = [
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}",
  "{% if add_generation_prompt %}<|im_start|>assistant\n",
  "{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}{% endif %}",
].join("");

export interface Route {
  readonly targets: readonly Readonly<Record<string, unknown>>[];
  readonly report_model?: string;
}

export const routes: Readonly<Record<string, Route>> = {
  tiny: { targets: [{ upstream: "parsers", model: "tiny" }] },
  "tiny-reframed": { targets: [{ upstream: "parsers-whole", model: "tiny" }] },
  "tiny-aggregated": { targets: [{ upstream: "parsers-streaming", model: "tiny" }] },
  plain: { targets: [{ upstream: "plain", model: "tiny" }] },
  "plain-patient": { targets: [{ upstream: "plain", model: "tiny", keep_alive_ms: 300 }] },
  "plain-hasty": { targets: [{ upstream: "plain", model: "tiny", first_event_ms: 700, total_ms: 700 }] },
  read: { targets: [{ upstream: "read", model: "tiny" }] },
  "read-reframed": { targets: [{ upstream: "read-whole", model: "tiny" }] },
  "read-aggregated": { targets: [{ upstream: "read-streaming", model: "tiny" }] },
  "read-auto": { targets: [{ upstream: "read", model: "tiny", text: { tools: "auto", reasoning: "auto" } }] },
  // As with models whose template has opened the thought already.
  "read-opened": { targets: [{ upstream: "read", model: "tiny", text: { reasoning: "think-open" } }] },
  templated: { targets: [{ upstream: "templated", model: "tiny" }] },
  "templated-reframed": { targets: [{ upstream: "templated-whole", model: "tiny" }] },
  "templated-aggregated": { targets: [{ upstream: "templated-streaming", model: "tiny" }] },
  // A template of the operator's own, which opens the thought.
  "templated-opened": { targets: [{ upstream: "templated", model: "tiny", template: openingTemplate }] },
  "one-by-one": {
    targets: [{ upstream: "parsers", model: "tiny", capabilities: { n: false, prompt_lists: false } }],
  },
  "requested-name": { targets: [{ upstream: "parsers", model: "tiny" }], report_model: "requested" },
  embed: { targets: [{ upstream: "pooling", model: "tiny" }] },
  "embed-pairs": { targets: [{ upstream: "pooling", model: "tiny", capabilities: { embedding_inputs: 2 } }] },
  misnamed: { targets: [{ upstream: "parsers", model: privateModelName }] },
  "as-asked-*": { targets: [{ upstream: "parsers" }] },
  locked: { targets: [{ upstream: "locked", model: "tiny" }] },
  keyless: { targets: [{ upstream: "keyless", model: "tiny" }] },
  "credential-absent": { targets: [{ upstream: "credential-absent", model: "tiny" }] },
};

/** The gateway's document: three servers, reached in every way that a configuration can ask for. */
export function gatewayConfig({ parsersUrl, plainUrl, poolingUrl }: ServerUrls): Readonly<Record<string, unknown>> {
  const parsers = { provider: "vllm", base_url: `${parsersUrl}/v1`, credential: "VLLM_KEY" };
  // The server without parsers, whose text the gateway reads.
  const read = { provider: "vllm", base_url: plainUrl, text: { tools: "hermes", reasoning: "think" } };
  const templated = { ...read, template: "chatml" };
  return {
    tenant_header: "x-tenant",
    auth: "key",
    upstreams: {
      parsers,
      "parsers-whole": { ...parsers, capabilities: { streaming: false } },
      "parsers-streaming": { ...parsers, prefer_stream: true },
      // Without `/v1`, and slower to send comments than any silence of the suite: what comes through is the server's.
      plain: { provider: "vllm", base_url: `${plainUrl}/`, keep_alive_ms: 60_000 },
      read,
      "read-whole": { ...read, capabilities: { streaming: false } },
      "read-streaming": { ...read, prefer_stream: true },
      templated,
      "templated-whole": { ...templated, capabilities: { streaming: false } },
      "templated-streaming": { ...templated, prefer_stream: true },
      pooling: { provider: "vllm", base_url: poolingUrl },
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
