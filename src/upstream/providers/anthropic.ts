import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://platform.claude.com/docs/en/api/openai-sdk, which says what is ignored: that is refused here. */
export const anthropic: Provider = {
  id: "anthropic",
  name: "Anthropic",
  tested: true,
  baseUrl: "https://api.anthropic.com/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    n: false,
    logprobs: false,
    json_schema: false,
    json_object: false,
    // Arguments become an object there.
    empty_arguments: false,
    invalid_arguments: false,
    reasoning_history: "none",
    continuation: "trailing_assistant",
    ranges: { temperature: { min: 0, max: 1 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: ["`tool_use` and `end_turn` as finishes", "arguments as an object"],
};
