import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://developers.cloudflare.com/workers-ai: over REST by its OpenAI-compatible endpoint, or over an AI binding, whose own form of answers is taken for OpenAI's. */
export const workersAi: Provider = {
  id: "workers-ai",
  name: "Workers AI",
  tested: false,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/embeddings"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    n: false,
    // Uncertain, and different from one model to the next.
    logprobs: false,
    image_urls: false,
    repetition_penalty: "repetition_penalty",
    embedding_inputs: 100,
    ranges: { temperature: { min: 0, max: 5 }, repetition_penalty: { min: 0, max: 2 } },
  },
  privileged: [],
  quirks: ["over the binding: `response` and calls without `function`, whole and in each event"],
};
