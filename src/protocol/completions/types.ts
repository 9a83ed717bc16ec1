import type { Head } from "../chat/head.ts";
import type { JsonObject } from "../json/lossless.ts";

/** What the request says about the form of its answer. */
export interface TextShape {
  /** How many choices there will be: prompts times `n`. */
  readonly choices: number;
  /** Whether a stream shall end with a usage chunk (`stream_options.include_usage`). */
  readonly includeUsage: boolean;
}

/** The place of one answer in a series of them that the client reads as one: its prompts are asked one by one. */
export interface Place {
  /** The members at the head of every chunk, the same for the whole series. */
  readonly head: Head;
  /** The index of its first choice. */
  readonly offset: number;
  /** Nothing follows it, so that it brings usage and `[DONE]`. */
  readonly last: boolean;
  /** Takes the usage of this answer; gives the sum of all so far, if all have told theirs. */
  readonly total: (usage: JsonObject | undefined) => JsonObject | undefined;
}

export const TEXT_COMPLETION = "text_completion";
export const ID_PREFIX = "cmpl-";
