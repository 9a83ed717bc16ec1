import { TOLERANT } from "../baseline.ts";
import { BEARER, ENDPOINTS, type Provider } from "../provider.ts";

/** Any server that speaks the OpenAI API, with whatever accent. */
export const openaiCompatible: Provider = {
  id: "openai-compatible",
  name: "Any OpenAI-compatible server",
  tested: true,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ENDPOINTS,
  rootEndpoints: [],
  capabilities: TOLERANT,
  // What is known to reach beyond a request at one of the servers that may be behind it.
  privileged: [
    "priority",
    "kv_transfer_params",
    "ec_transfer_params",
    "vllm_xargs",
    "request_id",
    "rid",
    "lora_path",
    "bootstrap_host",
    "bootstrap_port",
    "bootstrap_room",
    "custom_logit_processor",
    "session_params",
    "id_slot",
    "data_sources",
  ],
  quirks: [],
};
