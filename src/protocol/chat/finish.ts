import type { FinishReason } from "./types.ts";

/** `failed`: the upstream says that it gave up, which is no way for an answer to end. */
export type Meaning = FinishReason | "failed";

/** The words of other servers, in lower case. What is not listed means `stop`. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool_calls"],
  ["content_filter", "content_filter"],
  ["function_call", "function_call"],
  // Anthropic, Mistral, Gemini
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["max_output_tokens", "length"],
  ["tool_use", "tool_calls"],
  ["safety", "content_filter"],
  // vLLM
  ["repetition", "length"],
  ["abort", "failed"],
  ["error", "failed"],
  // Llama's end of message is "now call the tool"; Ollama's "load" says that nothing was generated; DeepSeek
  ["eom", "tool_calls"],
  ["load", "failed"],
  ["insufficient_system_resource", "failed"],
]);

/** What a finish_reason of an upstream means; undefined: the answer has not ended. */
export function meaningOf(raw: unknown): Meaning | undefined {
  if (raw === null || raw === undefined || raw === "" || raw === false) return undefined;
  if (typeof raw !== "string") return "stop";
  return MEANINGS.get(raw.toLowerCase()) ?? "stop";
}

export interface Brought {
  readonly calls: boolean;
  readonly functionCall: boolean;
  readonly text: boolean;
  readonly namedTool: boolean;
}

/** The finish_reason for an answer that brought this much; undefined: it promised calls and brought nothing at all. */
export function finishOf(meaning: FinishReason, brought: Brought): FinishReason | undefined {
  if (meaning === "stop" && !brought.namedTool) {
    if (brought.calls) return "tool_calls";
    if (brought.functionCall) return "function_call";
  }
  if (meaning === "tool_calls" && !brought.calls) {
    if (brought.functionCall) return "function_call";
    return brought.text ? "stop" : undefined;
  }
  return meaning;
}
