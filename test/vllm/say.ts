import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionFunctionTool,
} from "openai/resources/chat/completions";

/** A request body, with the fields of vLLM's own that the suite uses. `model`, `messages` and `stream` are added later. */
export type Body = Partial<Omit<ChatCompletionCreateParamsNonStreaming, "stream">> & {
  readonly structured_outputs?: {
    readonly choice?: readonly string[];
    readonly regex?: string;
    readonly grammar?: string;
  };
  readonly allowed_token_ids?: readonly number[];
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>>;
  readonly stop_token_ids?: readonly number[];
  readonly include_stop_str_in_output?: boolean;
  readonly include_reasoning?: boolean;
  readonly return_token_ids?: boolean;
};

/** Ids of the model's tokens: one for each byte (`a` is 64), then the special ones. */
export const token = { blank: 220, end: 258, lessThan: 27, outside: 99_999 } as const;

/** The reasoning parser takes everything for a thought until it sees the closing tag, unless the template says otherwise. */
export const noThinking = { chat_template_kwargs: { enable_thinking: false } } as const;

const lowerCase = Array.from({ length: 26 }, (_, i) => 64 + i);

/**
 * The weights are random: what the model says is forced, and what it spends on it is not. Without `<` as a byte, a tag
 * can only be the one token that the parsers look for.
 */
export function verbatim(text: string): Pick<Body, "structured_outputs"> & { logit_bias?: Record<string, number> } {
  return {
    structured_outputs: { choice: [text] },
    ...(text.includes("<") ? { logit_bias: { [token.lessThan]: -100 } } : {}),
  };
}

export function say(text: string): Body {
  return { ...verbatim(text), ...noThinking };
}

/** Small letters until `max_tokens`: the end token is not allowed. */
export function letters(maxTokens: number): Body {
  return { allowed_token_ids: lowerCase, max_tokens: maxTokens, ...noThinking };
}

/** The longest answer that fits into the context: several seconds on one core. */
export const endless: Body = letters(1_900);

/** How a Hermes model writes a call. */
export function callText(name: string, args: string): string {
  return `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
}

export const weather: ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", enum: ["Oslo", "Bergen"] },
        days: { type: "integer", minimum: 1, maximum: 9 },
      },
      required: ["city", "days"],
      additionalProperties: false,
    },
  },
};

export const clock: ChatCompletionFunctionTool = {
  type: "function",
  function: { name: "now", parameters: { type: "object", properties: {}, additionalProperties: false } },
};

/** vLLM holds a forced call to its schema only where the tool says `strict`. */
export function strict(tool: ChatCompletionFunctionTool): ChatCompletionFunctionTool {
  return { ...tool, function: { ...tool.function, strict: true } };
}
