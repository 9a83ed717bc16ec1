import type { Held } from "../chat/choice.ts";
import { meaningOf } from "../chat/finish.ts";
import { hasHalfCharacter, textOf } from "../chat/text.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import { isTextLogprobs } from "./logprobs.ts";

export type TextFinish = "stop" | "length" | "content_filter";

/** One choice of one stream: what has gone by, and what waits. */
export interface TextChoice {
  /** The index that it has in the upstream's answer. */
  readonly index: number;
  /** How much text has gone by, in UTF-16 units. */
  length: number;
  finish: TextFinish | undefined;
  /** The chunk that brought its finish, which waits for the end of the answer. */
  held: Held | undefined;
  /** The first half of a character that waits for its second half, as the member `text`. */
  readonly halves: Map<string, string>;
}

export const createTextChoice = (index: number): TextChoice => ({
  index,
  length: 0,
  finish: undefined,
  held: undefined,
  halves: new Map(),
});

/** What a finish_reason means for a text: the three ends that it can have, `failed`, or (undefined) none yet. */
export function textFinish(raw: unknown): TextFinish | "failed" | undefined {
  const meaning = meaningOf(raw);
  return meaning === "tool_calls" || meaning === "function_call" ? "stop" : meaning;
}

/** The text of a choice, also of a server that answers a prompt as it does a chat. */
export function textIn({ text, delta, message }: JsonObject): string {
  const inside = isObject(delta) ? delta["content"] : isObject(message) ? message["content"] : undefined;
  return textOf(text ?? inside) ?? "";
}

/** Whether a choice can leave as it came: everything the strictest client looks at is as OpenAI sends it. */
export function isCleanText(wire: JsonObject): boolean {
  const { text, logprobs, finish_reason } = wire;
  if (typeof text !== "string" || (text !== "" && hasHalfCharacter(text))) return false;
  if (logprobs !== undefined && logprobs !== null && !(isObject(logprobs) && isTextLogprobs(logprobs))) return false;
  return finish_reason === null || (textFinish(finish_reason) === finish_reason && finish_reason !== "failed");
}
