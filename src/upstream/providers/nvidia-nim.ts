import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.api.nvidia.com/nim/reference. What a model takes differs from one to the next. */
export const nvidiaNim: Provider = {
  id: "nvidia-nim",
  name: "NVIDIA NIM",
  tested: false,
  baseUrl: "https://integrate.api.nvidia.com/v1",
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    // Its own members for constraints are in `nvext`.
    repetition_penalty: "repetition_penalty",
    ranges: { temperature: { min: 0, max: 2 }, top_p: { above: 0, max: 1 } },
  },
  privileged: [],
  quirks: [],
};
