// Types only: no line of the SDK is bundled.
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { JsonObject } from "../json/lossless.ts";
import type { ChoicePass } from "./pass.ts";
import type { ReasoningFields } from "./reasoning-fields.ts";

export type Chunk = ChatCompletionChunk;
export type Completion = ChatCompletion;
export type FinishReason = NonNullable<ChatCompletionChunk.Choice["finish_reason"]>;

/** A chunk as we write it: OpenAI's members in OpenAI's types, and whatever else the upstream said. */
export type WireChunk = JsonObject & { choices: JsonObject[] };

/** What the request says about the form of its answer. */
export interface AnswerShape {
  /** Where thoughts go; left out, they stay where they are. */
  readonly reasoning?: ReasoningFields | undefined;
  /** Makes what rewrites the deltas of one choice: text that is a tool call or a thought. */
  readonly pass?: (() => ChoicePass) | undefined;
  /** Each chunk of the upstream repeats what those before it said. */
  readonly cumulative?: boolean | undefined;
  /** `n` of the request. */
  readonly n: number;
  /** Names of the functions that the request offers. */
  readonly toolNames: readonly string[];
  /** Whether `tool_choice` names one function: OpenAI then ends with `stop`, not `tool_calls`. */
  readonly namedTool: boolean;
  /** Whether a stream shall end with a usage chunk (`stream_options.include_usage`). */
  readonly includeUsage: boolean;
}

/** What an answer is given when the upstream left it out. */
export interface Identity {
  /** Seconds since 1970. */
  readonly created: number;
  /** The model name that was sent upstream. */
  readonly model: string;
  /** The model name that every answer shall carry; undefined: the one that the upstream says. */
  readonly reportedModel?: string | undefined;
  /** A fresh id with this prefix, `chatcmpl-` or `call_`. */
  readonly newId: (prefix: string) => string;
}
