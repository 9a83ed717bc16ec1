import { isObject, type JsonObject } from "../../protocol/json/lossless.ts";
import type { Draft } from "./draft.ts";

/** The messages as they stand, to be looked at. */
export function messagesOf(draft: Draft): readonly JsonObject[] {
  const messages = draft.get("messages");
  return Array.isArray(messages) ? (messages as readonly JsonObject[]) : [];
}

/** Writes the messages anew, numbers in their spelling. */
export function rewriteMessages(
  draft: Draft,
  change: string,
  rewrite: (message: JsonObject, at: number) => JsonObject,
): void {
  const messages = draft.lossless("messages") as readonly unknown[];
  draft.set(
    "messages",
    messages.map((message, at) => (isObject(message) ? rewrite(message, at) : message)),
    change,
  );
}

export const callsOf = (message: JsonObject): readonly unknown[] =>
  Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
