import type { Provider } from "./provider.ts";
import { anthropic } from "./providers/anthropic.ts";
import { azureOpenai } from "./providers/azure-openai.ts";
import { bedrock } from "./providers/bedrock.ts";
import { cerebras } from "./providers/cerebras.ts";
import { cloudflareAiGateway } from "./providers/cloudflare-ai-gateway.ts";
import { databricks } from "./providers/databricks.ts";
import { deepinfra } from "./providers/deepinfra.ts";
import { deepseek } from "./providers/deepseek.ts";
import { fireworks } from "./providers/fireworks.ts";
import { gemini } from "./providers/gemini.ts";
import { groq } from "./providers/groq.ts";
import { huggingfaceRouter } from "./providers/huggingface-router.ts";
import { llamaCpp } from "./providers/llama-cpp.ts";
import { lmstudio } from "./providers/lmstudio.ts";
import { mistral } from "./providers/mistral.ts";
import { nvidiaNim } from "./providers/nvidia-nim.ts";
import { ollama } from "./providers/ollama.ts";
import { openai } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai-compatible.ts";
import { openrouter } from "./providers/openrouter.ts";
import { perplexity } from "./providers/perplexity.ts";
import { sglang } from "./providers/sglang.ts";
import { tgi } from "./providers/tgi.ts";
import { together } from "./providers/together.ts";
import { vllm } from "./providers/vllm.ts";
import { workersAi } from "./providers/workers-ai.ts";
import { xai } from "./providers/xai.ts";

/** Every provider that a configuration can name. */
export const PROVIDERS = {
  "openai-compatible": openaiCompatible,
  openai,
  "azure-openai": azureOpenai,
  vllm,
  sglang,
  "llama-cpp": llamaCpp,
  ollama,
  tgi,
  lmstudio,
  together,
  fireworks,
  groq,
  mistral,
  deepseek,
  openrouter,
  perplexity,
  cerebras,
  deepinfra,
  xai,
  "nvidia-nim": nvidiaNim,
  "huggingface-router": huggingfaceRouter,
  gemini,
  anthropic,
  bedrock,
  databricks,
  "workers-ai": workersAi,
  "cloudflare-ai-gateway": cloudflareAiGateway,
} as const satisfies Record<string, Provider>;

export type ProviderId = keyof typeof PROVIDERS;
