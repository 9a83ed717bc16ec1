import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.fireworks.ai/api-reference/post-chatcompletions */
export const fireworks: Provider = {
  id: "fireworks",
  name: "Fireworks",
  tested: false,
  baseUrl: "https://api.fireworks.ai/inference/v1",
  basePath: "/inference/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models", "/rerank"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    instruction_role: "system",
    repetition_penalty: "repetition_penalty",
    ranges: { temperature: { min: 0, max: 2 }, top_p: { min: 0, max: 1 }, n: { min: 1, max: 128 } },
  },
  privileged: [],
  quirks: ["usage on the finish chunk"],
};
