import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://platform.openai.com/docs/api-reference */
export const openai: Provider = {
  id: "openai",
  name: "OpenAI",
  tested: true,
  baseUrl: "https://api.openai.com/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/models",
    "/moderations",
    "/audio/transcriptions",
    "/audio/translations",
    "/audio/speech",
    "/images/generations",
  ],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    audio: true,
    // Reasoning models refuse `max_tokens`; the others take both.
    max_tokens: "max_completion_tokens",
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
  privileged: [],
  quirks: ["`obfuscation` in each chunk"],
};
