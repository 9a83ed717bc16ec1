import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.ollama.com/api/openai-compatibility, and its source of 2026. */
export const ollama: Provider = {
  id: "ollama",
  name: "Ollama",
  tested: true,
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
    n: false,
    // Both are ignored.
    tool_choice_none: false,
    tool_choice_required: false,
    image_urls: false,
    empty_arguments: false,
    invalid_arguments: false,
    reasoning_history: "reasoning",
    prompt_lists: false,
    prompt_tokens: false,
    best_of: false,
    echo: false,
    ranges: { temperature: { min: 0 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: [
    "ids that repeat",
    "whole calls in one delta",
    "a finish of `load`",
    "a stream that ends without a word when it fails",
  ],
};
