import { BEARER, type Provider } from "../provider.ts";

export const vllm: Provider = {
  id: "vllm",
  auth: BEARER,
  capabilities: { streaming: true, streaming_with_tools: true },
};
