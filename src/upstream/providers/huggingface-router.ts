import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://huggingface.co/docs/inference-providers. What it takes depends on the provider behind it. */
export const huggingfaceRouter: Provider = {
  id: "huggingface-router",
  name: "Hugging Face router",
  tested: false,
  baseUrl: "https://router.huggingface.co/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
  },
  privileged: [],
  quirks: [],
};
