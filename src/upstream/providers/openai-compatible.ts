import { BEARER, type Provider } from "../provider.ts";

/** Any server that speaks the OpenAI API, with whatever accent. */
export const openaiCompatible: Provider = {
  id: "openai-compatible",
  auth: BEARER,
  capabilities: { streaming: true, streaming_with_tools: true },
};
