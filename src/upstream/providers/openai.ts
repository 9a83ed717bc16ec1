import { BEARER, type Provider } from "../provider.ts";

export const openai: Provider = {
  id: "openai",
  auth: BEARER,
  capabilities: { streaming: true, streaming_with_tools: true },
};
