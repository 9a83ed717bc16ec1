import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** 3.x, which is in maintenance; from its source. */
export const tgi: Provider = {
  id: "tgi",
  name: "Text Generation Inference",
  tested: true,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/models"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    n: false,
    // Uncertain for versions before 3.
    json_schema: true,
    best_of: false,
    suffix: false,
    ranges: { temperature: { min: 0 }, top_p: { above: 0, max: 1 } },
  },
  privileged: [],
  quirks: [
    "an empty id",
    "the role in each chunk",
    "all calls at index 0, the id in each delta",
    "`eos_token` and `stop_sequence` as finishes",
    "errors as a text",
  ],
};
