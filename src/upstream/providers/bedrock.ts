import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html. With an API key; signed requests are not made. */
export const bedrock: Provider = {
  id: "bedrock",
  name: "Amazon Bedrock",
  tested: false,
  baseUrl: undefined,
  basePath: "/openai/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    // Uncertain, all of it: the documentation refers to OpenAI's.
    max_tokens: "max_completion_tokens",
    n: false,
    image_urls: false,
    reasoning_history: "none",
    ranges: { temperature: { min: 0, max: 2 }, top_p: { min: 0, max: 1 } },
  },
  privileged: [],
  quirks: ["thoughts in `<reasoning>` tags of the content"],
};
