import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://ai.google.dev/gemini-api/docs/openai. Members it does not know are refused (400). */
export const gemini: Provider = {
  id: "gemini",
  name: "Gemini",
  tested: true,
  baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  basePath: "/v1beta/openai",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/embeddings", "/models", "/images/generations"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    instruction_role: "system",
    // Uncertain: undocumented there, and unknown members are refused.
    logprobs: false,
    parallel_tool_calls: false,
    // The documentation shows `data:` URLs alone.
    image_urls: false,
    reasoning_history: "none",
    empty_arguments: false,
    invalid_arguments: false,
    ranges: { temperature: { min: 0, max: 2 }, top_p: { min: 0, max: 1 }, n: { min: 1, max: 8 } },
  },
  privileged: [],
  quirks: ["`stop` after a call", "all calls at index 0, or without one", "errors as a list of one"],
};
