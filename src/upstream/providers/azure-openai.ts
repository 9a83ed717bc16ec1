import { HOSTED } from "../baseline.ts";
import { API_KEY, type Provider } from "../provider.ts";

/** https://learn.microsoft.com/azure/ai-services/openai/reference. A base URL with `/openai/v1` is the newer API, without deployments and versions. */
export const azureOpenai: Provider = {
  id: "azure-openai",
  name: "Azure OpenAI",
  tested: true,
  baseUrl: undefined,
  basePath: "/openai/deployments/{model}",
  query: { "api-version": "2024-10-21" },
  auth: API_KEY,
  endpoints: [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/audio/transcriptions",
    "/audio/translations",
    "/audio/speech",
    "/images/generations",
  ],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    audio: true,
    // Old deployments know `max_tokens` only, reasoning models the other one only: both pass.
    reasoning_history: "none",
    ranges: {
      temperature: { min: 0, max: 2 },
      top_p: { min: 0, max: 1 },
      presence_penalty: { min: -2, max: 2 },
      frequency_penalty: { min: -2, max: 2 },
      n: { min: 1, max: 128 },
      top_logprobs: { min: 0, max: 20 },
    },
  },
  privileged: ["data_sources"],
  quirks: ["a first chunk without choices", "`content_filter_results` in choices"],
};
