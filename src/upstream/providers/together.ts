import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.together.ai/reference/chat-completions-1 */
export const together: Provider = {
  id: "together",
  name: "Together",
  tested: true,
  baseUrl: "https://api.together.xyz/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/models",
    "/rerank",
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
  },
  privileged: [],
  quirks: ["logprobs as `tokens` and `token_logprobs`", "`eos` as a finish"],
};
