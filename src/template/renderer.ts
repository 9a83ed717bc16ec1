import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { isObject, type JsonObject } from "../protocol/json/lossless.ts";
import { membersOf } from "../protocol/json/members.ts";
import { wrong } from "../protocol/request-body.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { chatOf, toolsOf } from "./chat.ts";
import { compile, Raised, type Compiled } from "./compile.ts";

/** A chat request as a request for a completion of its prompt. */
export interface Prompted {
  readonly text: string;
  readonly prompt: string;
  /** What was changed: names, never values. */
  readonly changed: readonly string[];
  /** Whether the request bounds its answer. */
  readonly bounded: boolean;
  /** Whether the prompt ends inside a thought, with which the answer then begins. */
  readonly opened: boolean;
}

// What the prompt says.
const IN_PROMPT: ReadonlySet<string> = new Set([
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "chat_template_kwargs",
  "documents",
  "add_generation_prompt",
  "continue_final_message",
  "reasoning_effort",
  "include_reasoning",
]);
// What completions do not have, or have with another meaning; none of it changes the text of an answer.
const CHAT_ONLY: ReadonlySet<string> = new Set([
  "functions",
  "function_call",
  "modalities",
  "prediction",
  "verbosity",
  "web_search_options",
  "store",
  "metadata",
  "service_tier",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "chat_template_content_format",
  "media_io_kwargs",
  "mm_processor_kwargs",
  "echo",
  "suffix",
  "best_of",
  "prompt_embeds",
  "top_logprobs",
]);

/**
 * Renders a chat with a template (a name or Jinja text) and asks for what follows. The prompt has the start token that the template
 * gives it, so the server is told to add none; special tokens stay in the answer, to be read there.
 * @param text a chat request, shaped for its target
 */
export function toPrompt(text: string, template: string): Result<Prompted, GatewayError> {
  const body = JSON.parse(text) as JsonObject;
  const compiled = compile(template);
  if (compiled === undefined) return err(TEMPLATE_FAILED);
  if (body["chat_template"] !== undefined && body["chat_template"] !== null) return err(OWN_TEMPLATE);
  const prompt = promptOf(body, compiled);
  if (!prompt.ok) return prompt;

  const members = membersOf(text);
  const changed = ["messages->prompt"];
  for (const name of Object.keys(body)) {
    if (CHAT_ONLY.has(name)) changed.push(`-${name}`);
    if (CHAT_ONLY.has(name) || IN_PROMPT.has(name)) members.set(name, undefined);
  }
  const set = (name: string, value: unknown): void => members.set(name, JSON.stringify(value));
  set("prompt", prompt.value);
  const stop = stopsOf(body["stop"], compiled.markup.stops);
  set("stop", stop.length > 0 ? stop : undefined);
  set("add_special_tokens", false);
  set("skip_special_tokens", false);
  changed.push("+stop", "+add_special_tokens", "+skip_special_tokens");
  if (body["logprobs"] !== undefined) {
    const { logprobs, top_logprobs } = body;
    set("logprobs", logprobs === true ? (typeof top_logprobs === "number" ? top_logprobs : 0) : undefined);
    changed.push("~logprobs");
  }
  const limit = body["max_completion_tokens"] ?? body["max_tokens"] ?? undefined;
  if (body["max_completion_tokens"] !== undefined) {
    members.set("max_completion_tokens", undefined);
    set("max_tokens", limit);
    changed.push("max_completion_tokens->max_tokens");
  }
  const opened = OPENS_THOUGHT.test(prompt.value.slice(-64));
  return ok({ text: members.toText(), prompt: prompt.value, changed, bounded: limit !== undefined, opened });
}

/** The client's own, then those of the template. */
function stopsOf(stop: unknown, own: readonly string[]): string[] {
  const asked = typeof stop === "string" ? [stop] : Array.isArray(stop) ? (stop as string[]) : [];
  return [...new Set([...asked, ...own])];
}

function promptOf(body: JsonObject, compiled: Compiled): Result<string, GatewayError> {
  const { chat_template_kwargs, documents, add_generation_prompt, continue_final_message } = body;
  const isGoneOn = continue_final_message === true;
  if (isGoneOn && add_generation_prompt === true) return err(EITHER);
  const own = chat_template_kwargs ?? {};
  if (!isObject(own)) return err(wrong("chat_template_kwargs", "an object"));
  const chat = chatOf(body["messages"] as readonly JsonObject[]);
  if (!chat.ok) return chat;
  const variables = {
    ...effortOf(body["reasoning_effort"]),
    ...own,
    messages: chat.value,
    tools: toolsOf(body),
    documents: documents ?? undefined,
    add_generation_prompt: !isGoneOn && add_generation_prompt !== false,
  };
  let prompt: string;
  try {
    prompt = compiled.render(variables);
  } catch (error) {
    if (error instanceof Raised) return err(gatewayError("invalid_value", error.message, "messages"));
    return err(TEMPLATE_FAILED);
  }
  return ok(isGoneOn ? upToLast(prompt, chat.value) : prompt);
}

/** The prompt as far as the end of the last message, which the model goes on with. */
function upToLast(prompt: string, chat: readonly JsonObject[]): string {
  const last = String(chat.at(-1)?.["content"]).trim();
  const at = prompt.lastIndexOf(last);
  return at < 0 ? prompt : prompt.slice(0, at + last.length);
}

/** Thinking can be switched off by the effort; templates know the switch by its own name. */
const effortOf = (effort: unknown): JsonObject =>
  typeof effort === "string"
    ? { reasoning_effort: effort, ...(effort === "none" ? { enable_thinking: false } : {}) }
    : {};

const OPENS_THOUGHT = /(?:<(?:seed:)?think>|\[THINK\]|<\|START_THINKING\|>|<\|channel>thought)\s*$/;

const TEMPLATE_FAILED = gatewayError(
  "template_failed",
  "The gateway could not render this chat: the template of this model is faulty. This is for its operator to mend.",
);
const OWN_TEMPLATE = gatewayError(
  "unsupported_parameter",
  "The template of this model is its operator's; a request cannot bring one of its own.",
  "chat_template",
);
const EITHER = gatewayError(
  "invalid_value",
  "Cannot go on with the last message and begin a new one: set only one of 'continue_final_message' and 'add_generation_prompt'.",
  "continue_final_message",
);
