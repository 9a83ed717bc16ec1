import type { Capabilities } from "./provider.ts";

/** Everything passes: what a server that nobody knows is taken to be able to. */
export const TOLERANT: Capabilities = {
  streaming: true,
  streaming_with_tools: true,
  stream_options: true,
  tools: true,
  tool_choice_none: true,
  tool_choice_required: true,
  parallel_tool_calls: true,
  functions: false,
  n: true,
  logprobs: true,
  json_schema: true,
  json_object: true,
  content_parts: true,
  image_urls: true,
  cumulative: false,
  audio: true,
  empty_arguments: true,
  invalid_arguments: true,
  cache_salt: false,
  prompt_lists: true,
  prompt_tokens: true,
  best_of: true,
  suffix: true,
  echo: true,
  max_tokens: "any",
  instruction_role: "any",
  constraints: "any",
  top_k_off: "any",
  greedy: "temperature_0",
  seed: "any",
  repetition_penalty: "any",
  tool_call_ids: "any",
  reasoning_history: "any",
  continuation: "none",
  embedding_inputs: 2048,
  ranges: {},
};

/** What holds for most APIs of a company: no members of their own for constraints, and nothing spoken. */
export const HOSTED: Capabilities = { ...TOLERANT, constraints: "none", audio: false };
