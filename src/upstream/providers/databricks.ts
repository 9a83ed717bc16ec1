import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** https://docs.databricks.com/machine-learning/foundation-model-apis/api-reference */
export const databricks: Provider = {
  id: "databricks",
  name: "Databricks",
  tested: false,
  baseUrl: undefined,
  basePath: "/serving-endpoints",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings"],
  rootEndpoints: [],
  capabilities: {
    ...HOSTED,
    max_tokens: "max_tokens",
    instruction_role: "system",
    embedding_inputs: 150,
    ranges: { temperature: { min: 0, max: 2 }, top_p: { above: 0, max: 1 } },
  },
  privileged: [],
  quirks: ["content as a list of parts"],
};
