import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://developers.cloudflare.com/ai-gateway/usage/chat-completion. What it takes is for the provider behind it to say, which the model names (`openai/gpt-5`). */
export const cloudflareAiGateway: Provider = {
  id: "cloudflare-ai-gateway",
  name: "Cloudflare AI Gateway",
  tested: false,
  baseUrl: undefined,
  basePath: "/compat",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    constraints: "any",
    audio: true,
  },
  privileged: [],
  quirks: [],
};
