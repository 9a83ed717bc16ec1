import type { JsonObject } from "../../protocol/json/lossless.ts";
import type { Rule } from "./draft.ts";
import { messagesOf, rewriteMessages } from "./messages.ts";

const SPELLINGS = ["reasoning", "reasoning_content"];

/** Clients send back the thoughts that they were given, in spellings that the upstream may never have heard of. */
export const reasoningHistory: Rule = {
  name: "reasoning-history",
  apply(draft) {
    const known = draft.target.capabilities.reasoning_history;
    if (known === "any") return undefined;
    for (const name of SPELLINGS) {
      if (name === known || !messagesOf(draft).some((message) => has(message, name))) continue;
      rewriteMessages(draft, `-messages.${name}`, ({ ...message }) => {
        if (message["role"] === "assistant") delete message[name];
        return message;
      });
    }
    return undefined;
  },
};

const has = (message: JsonObject, name: string): boolean =>
  message["role"] === "assistant" && Object.hasOwn(message, name);
