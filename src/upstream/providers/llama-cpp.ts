import { HOSTED } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** Release 11434 was watched on a running server; older ones differ. */
export const llamaCpp: Provider = {
  id: "llama-cpp",
  name: "llama.cpp server",
  tested: true,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: ["/chat/completions", "/completions", "/embeddings", "/models", "/rerank", "/tokenize", "/detokenize"],
  rootEndpoints: ["/tokenize", "/detokenize"],
  capabilities: {
    ...HOSTED,
    // Newer releases read `max_completion_tokens` too.
    max_tokens: "max_tokens",
    instruction_role: "system",
    top_k_off: "0",
    repetition_penalty: "repeat_penalty",
    // Templates that take arguments as objects have them parsed.
    empty_arguments: false,
    invalid_arguments: false,
    continuation: "trailing_assistant",
    best_of: false,
    suffix: false,
    echo: false,
    ranges: { top_p: { min: 0, max: 1 }, min_p: { min: 0, max: 1 } },
  },
  privileged: ["id_slot", "lora"],
  quirks: [
    "choices that begin in any order, each with a usage of its own",
    "`timings` on the last chunk",
    "older ones: an `error:` field, no `[DONE]` after an error",
  ],
};
