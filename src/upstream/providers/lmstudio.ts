import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://lmstudio.ai/docs/developer/openai-compat */
export const lmstudio: Provider = {
  id: "lmstudio",
  name: "LM Studio",
  tested: false,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    repetition_penalty: "repeat_penalty",
    // Uncertain: not among the documented members.
    n: false,
    // Refused with "must be 'json_schema' or 'text'".
    json_object: false,
    image_urls: false,
  },
  privileged: [],
  quirks: [],
};
