// The names of the families, apart from what they do: a configuration is checked by them long before a text is read.

/** Families of tool calls written as text; the catalogue has each of them. */
export const TOOL_FAMILIES = [
  "hermes",
  "qwen3-coder",
  "glm45",
  "llama3",
  "pythonic",
  "mistral",
  "deepseek-v3",
  "deepseek-v31",
  "deepseek-v32",
  "kimi-k2",
  "minimax-m2",
  "minimax-m1",
  "hy-v3",
  "granite",
  "granite-20b-fc",
  "phi4-mini",
  "lfm2",
  "seed-oss",
  "internlm",
  "step3",
  "longcat",
  "cohere",
  "gemma4",
  "functiongemma",
  "apertus",
  "gigachat3",
  "minicpm5",
  "xlam",
  "harmony",
  "json",
] as const;

/** Families of thoughts written as text. */
export const REASONING_FAMILY_NAMES = [
  "think",
  "think-open",
  "hunyuan",
  "ernie",
  "seed",
  "mistral",
  "cohere",
  "gemma4",
  "granite",
  "harmony",
] as const;

/** The names of vLLM's parsers, and of models that write as others do. */
export const ALIASES: Readonly<Record<string, string>> = {
  qwen: "hermes",
  granite4: "hermes",
  ernie45: "hermes",
  "llama3-json": "llama3",
  "llama4-json": "llama3",
  "llama4-pythonic": "pythonic",
  llama4: "pythonic",
  olmo3: "pythonic",
  "qwen3-xml": "qwen3-coder",
  mimo: "qwen3-coder",
  step3p5: "qwen3-coder",
  glm47: "glm45",
  "poolside-v1": "glm45",
  "deepseek-v4": "deepseek-v32",
  minimax: "minimax-m1",
  jamba: "minimax-m1",
  "hunyuan-a13b": "minimax-m1",
  hunyuan: "minimax-m1",
  "phi4-mini-json": "phi4-mini",
  "cohere-command3": "cohere",
  "cohere-command4": "cohere",
  openai: "harmony",
};

/** The names that a name may stand for: vLLM writes `qwen3_coder` and `deepseekv3`. */
export function spellingsOf(name: string): readonly string[] {
  const spelled = name.toLowerCase().replaceAll("_", "-");
  return [spelled, spelled.replace(/^deepseek-?v/, "deepseek-v")];
}

export function isToolFamily(name: string): boolean {
  const known: readonly string[] = TOOL_FAMILIES;
  return spellingsOf(name).some((spelled) => known.includes(spelled) || Object.hasOwn(ALIASES, spelled));
}

export const isReasoningFamily = (name: string): boolean =>
  (REASONING_FAMILY_NAMES as readonly string[]).includes(name);
