import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://console.groq.com/docs/openai */
export const groq: Provider = {
  id: "groq",
  name: "Groq",
  tested: false,
  baseUrl: "https://api.groq.com/openai/v1",
  basePath: "/openai/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/models", "/audio/transcriptions", "/audio/translations", "/audio/speech"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    n: false,
    logprobs: false,
    // Uncertain: the documentation names `reasoning` alone.
    reasoning_history: "reasoning",
    ranges: { temperature: { min: 0, max: 2 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: ["usage in `x_groq`"],
};
