import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://api-docs.deepseek.com */
export const deepseek: Provider = {
  id: "deepseek",
  name: "DeepSeek",
  tested: false,
  baseUrl: "https://api.deepseek.com/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    // Not among the documented members.
    n: false,
    json_schema: false,
    content_parts: false,
    // Wanted back within a chain of calls, refused by older models.
    reasoning_history: "reasoning_content",
    // `prefix` needs another base URL.
    ranges: {
      temperature: { min: 0, max: 2 },
      top_p: { min: 0, max: 1 },
      presence_penalty: { min: -2, max: 2 },
      frequency_penalty: { min: -2, max: 2 },
      top_logprobs: { min: 0, max: 20 },
    },
  },
  privileged: [],
  quirks: ["comments while a request waits", "`insufficient_system_resource` as a finish"],
};
