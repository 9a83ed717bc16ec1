import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.perplexity.ai/api-reference */
export const perplexity: Provider = {
  id: "perplexity",
  name: "Perplexity",
  tested: false,
  baseUrl: "https://api.perplexity.ai",
  basePath: "",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    // Uncertain for the newest models.
    tools: false,
    n: false,
    logprobs: false,
    json_object: false,
    ranges: { temperature: { min: 0, max: 2 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: ["whole messages repeated in each chunk", "`citations` and `search_results` beside the choices"],
};
