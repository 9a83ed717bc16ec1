import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://deepinfra.com/docs/openai_api */
export const deepinfra: Provider = {
  id: "deepinfra",
  name: "DeepInfra",
  tested: false,
  baseUrl: "https://api.deepinfra.com/v1/openai",
  basePath: "/v1/openai",
  query: {},
  auth: BEARER,
  endpoints: [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/models",
    "/audio/transcriptions",
    "/audio/speech",
    "/images/generations",
  ],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    repetition_penalty: "repetition_penalty",
    ranges: { temperature: { min: 0, max: 2 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: [],
};
