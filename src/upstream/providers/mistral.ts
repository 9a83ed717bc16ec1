import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.mistral.ai/api. Members it does not know are refused (422). */
export const mistral: Provider = {
  id: "mistral",
  name: "Mistral",
  tested: false,
  baseUrl: "https://api.mistral.ai/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/embeddings", "/models", "/moderations", "/audio/transcriptions"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    seed: "random_seed",
    // Uncertain; the usage comes without being asked for.
    stream_options: false,
    logprobs: false,
    tool_call_ids: "alphanumeric_9",
    reasoning_history: "none",
    continuation: "prefix",
    ranges: {
      temperature: { min: 0, max: 1.5 },
      top_p: { above: 0, max: 1 },
      presence_penalty: { min: -2, max: 2 },
      frequency_penalty: { min: -2, max: 2 },
    },
  },
  privileged: [],
  quirks: ["usage on the finish chunk", "thoughts as a list in `content`"],
};
