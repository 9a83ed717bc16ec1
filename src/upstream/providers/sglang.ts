import { TOLERANT } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** From its source of 2026; not watched on a running server. */
export const sglang: Provider = {
  id: "sglang",
  name: "SGLang",
  tested: true,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models", "/rerank", "/score"],
  rootEndpoints: [],
  capabilities: {
    ...TOLERANT,
    audio: false,
    instruction_role: "system",
    constraints: "regex_ebnf",
    top_k_off: "-1",
    repetition_penalty: "repetition_penalty",
    // Uncertain: templates that take arguments as objects have them parsed.
    empty_arguments: false,
    continuation: "continue_final_message",
    best_of: false,
    suffix: false,
    ranges: {
      temperature: { min: 0 },
      top_p: { above: 0, max: 1 },
      top_k: { min: -1 },
      min_p: { min: 0, max: 1 },
      presence_penalty: { min: -2, max: 2 },
      frequency_penalty: { min: -2, max: 2 },
      repetition_penalty: { above: 0, max: 2 },
    },
  },
  privileged: [
    "priority",
    "rid",
    "lora_path",
    "bootstrap_host",
    "bootstrap_port",
    "bootstrap_room",
    "custom_logit_processor",
    "custom_params",
    "session_params",
    "extra_key",
    "data_parallel_rank",
    "routed_dp_rank",
  ],
  quirks: ["all nulls in a delta", "`created` changes with each chunk", "flat error objects"],
};
