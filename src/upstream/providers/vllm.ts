import { TOLERANT } from "../baseline.ts";
import { BEARER, type Provider } from "../provider.ts";

/** 0.11 to 0.33, of which 0.11 and 0.32 were watched on running servers. */
export const vllm: Provider = {
  id: "vllm",
  name: "vLLM",
  tested: true,
  baseUrl: undefined,
  basePath: "/v1",
  query: {},
  auth: BEARER,
  endpoints: [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/models",
    "/rerank",
    "/score",
    "/tokenize",
    "/detokenize",
    "/audio/transcriptions",
    "/audio/translations",
  ],
  rootEndpoints: ["/tokenize", "/detokenize"],
  capabilities: {
    ...TOLERANT,
    audio: false,
    // The templates of models know `system`; what they make of another word is theirs to say.
    instruction_role: "system",
    // Versions before 0.11 take `guided_*` instead.
    constraints: "structured_outputs",
    // -1 has meant "all tokens" from the start, 0 only later.
    top_k_off: "-1",
    repetition_penalty: "repetition_penalty",
    // Old versions read them as JSON and fail.
    empty_arguments: false,
    continuation: "continue_final_message",
    cache_salt: true,
    best_of: false,
    suffix: false,
    ranges: {
      temperature: { min: 0 },
      top_p: { above: 0, max: 1 },
      top_k: { min: -1 },
      min_p: { min: 0, max: 1 },
      presence_penalty: { min: -2, max: 2 },
      frequency_penalty: { min: -2, max: 2 },
      repetition_penalty: { above: 0 },
      n: { min: 1, max: 16_384 },
    },
  },
  privileged: ["priority", "request_id", "kv_transfer_params", "ec_transfer_params", "vllm_xargs", "session_id"],
  quirks: [
    "errors inside a 200 stream, before `[DONE]`",
    "nulls in tool-call deltas",
    "calls without arguments",
    "`reasoning` or `reasoning_content` by version",
  ],
};
