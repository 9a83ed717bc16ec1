import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.x.ai/docs/api-reference */
export const xai: Provider = {
  id: "xai",
  name: "xAI",
  tested: false,
  baseUrl: "https://api.x.ai/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models", "/images/generations"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    ranges: {
      temperature: { min: 0, max: 2 },
      top_p: { min: 0, max: 1 },
      // Uncertain: 8 is what the documentation says.
      top_logprobs: { min: 0, max: 8 },
    },
  },
  privileged: ["deferred"],
  quirks: ["usage on each chunk"],
};
