/** How the models of one name write; undefined: as far as is known, not in text. */
export interface ModelWriting {
  readonly tools: string | undefined;
  readonly reasoning: string | undefined;
}

// In reading order: the first pattern that fits a name in lower case counts. `think-open` where the template opens the thought.
const MODELS: readonly (readonly [pattern: RegExp, tools: string | undefined, reasoning: string | undefined])[] = [
  [/gpt-?oss/, "harmony", "harmony"],
  [/hermes/, "hermes", "think"],
  [/toolace|pythonic/, "pythonic", undefined],
  [/xlam/, "xlam", undefined],
  [/deepseek.*(?:v3\.2|v3-2|v4)/, "deepseek-v32", "think"],
  [/deepseek.*(?:v3\.1|v3-1|terminus)/, "deepseek-v31", "think"],
  [/r1.*distill/, "hermes", "think-open"],
  [/deepseek.*r1/, "deepseek-v3", "think-open"],
  [/deepseek/, "deepseek-v3", undefined],
  [/qwen-?3\.[5-9]/, "qwen3-coder", "think-open"],
  [/qwen-?3-?coder/, "qwen3-coder", undefined],
  [/qwen-?3.*instruct/, "hermes", undefined],
  [/qwen-?3.*thinking|qwq/, "hermes", "think-open"],
  [/qwen-?3/, "hermes", "think"],
  [/qwen/, "hermes", undefined],
  [/mimo/, "qwen3-coder", "think"],
  [/nemotron-?3|nemotron.*nano-?(?:3|v3)/, "qwen3-coder", "think-open"],
  [/step-?3(?:\.5|p5)/, "qwen3-coder", "think-open"],
  [/step-?3/, "step3", "think-open"],
  [/kimi/, "kimi-k2", "think"],
  [/glm-?(?:4\.[5-9]|[5-9])/, "glm45", "think"],
  [/minimax.*m1/, "minimax-m1", "think"],
  [/minimax/, "minimax-m2", "think-open"],
  [/llama-?4|maverick|scout/, "pythonic", undefined],
  [/olmo-?3.*think/, "pythonic", "think-open"],
  [/olmo/, "pythonic", undefined],
  [/llama/, "llama3", undefined],
  [/mistral|mixtral|ministral|magistral|devstral|codestral|pixtral|voxtral/, "mistral", "mistral"],
  [/granite.*20b/, "granite-20b-fc", undefined],
  [/granite-?4/, "hermes", undefined],
  [/granite/, "granite", "granite"],
  [/phi-?4.*reasoning/, undefined, "think"],
  [/phi-?4/, "phi4-mini", undefined],
  [/seed-?oss/, "seed-oss", "seed"],
  [/internlm/, "internlm", undefined],
  [/intern-?s1/, "internlm", "think"],
  [/jamba/, "minimax-m1", undefined],
  [/hunyuan/, "minimax-m1", "hunyuan"],
  [/\bhy-?v?3/, "hy-v3", "think"],
  [/longcat/, "longcat", "think"],
  [/command-?(?:r|a)|cohere|c4ai/, "cohere", "cohere"],
  [/function-?gemma/, "functiongemma", undefined],
  [/gemma-?4/, "gemma4", "gemma4"],
  [/apertus/, "apertus", undefined],
  [/gigachat/, "gigachat3", undefined],
  [/minicpm-?5/, "minicpm5", "think"],
  [/lfm-?2/, "lfm2", undefined],
  [/ernie/, "hermes", "ernie"],
  [/smollm-?3/, "hermes", "think"],
];

/** What the name of a model says about its writing; undefined: nothing. */
export function familyOfModel(model: string): ModelWriting | undefined {
  const name = model.toLowerCase();
  const row = MODELS.find(([pattern]) => pattern.test(name));
  return row && { tools: row[1], reasoning: row[2] };
}
