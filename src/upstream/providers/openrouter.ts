import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://openrouter.ai/docs/api-reference */
export const openrouter: Provider = {
  id: "openrouter",
  name: "OpenRouter",
  tested: true,
  baseUrl: "https://openrouter.ai/api/v1",
  basePath: "/api/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    // Uncertain: not among the documented members, and most of what stands behind it has none.
    n: false,
    repetition_penalty: "repetition_penalty",
    continuation: "trailing_assistant",
    ranges: {
      temperature: { min: 0, max: 2 },
      top_p: { above: 0, max: 1 },
      presence_penalty: { min: -2, max: 2 },
      frequency_penalty: { min: -2, max: 2 },
      repetition_penalty: { above: 0, max: 2 },
      top_logprobs: { min: 0, max: 20 },
    },
  },
  privileged: ["models", "preset"],
  quirks: ["comments while a request waits", "an error and choices in one chunk", "`native_finish_reason`"],
};
