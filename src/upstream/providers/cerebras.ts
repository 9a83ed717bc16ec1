import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://inference-docs.cerebras.ai/resources/openai */
export const cerebras: Provider = {
  id: "cerebras",
  name: "Cerebras",
  tested: false,
  baseUrl: "https://api.cerebras.ai/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_completion_tokens",
    instruction_role: "system",
    n: false,
    // Refused by some models.
    parallel_tool_calls: false,
    reasoning_history: "reasoning",
    ranges: { temperature: { min: 0, max: 1.5 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: [],
};
