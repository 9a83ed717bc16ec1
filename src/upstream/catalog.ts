import type { Provider } from "./provider.ts";
import { openaiCompatible } from "./providers/openai-compatible.ts";
import { openai } from "./providers/openai.ts";
import { vllm } from "./providers/vllm.ts";

/** Every provider that a configuration can name. */
export const PROVIDERS = {
  "openai-compatible": openaiCompatible,
  openai,
  vllm,
} as const satisfies Record<string, Provider>;

export type ProviderId = keyof typeof PROVIDERS;
