import { isObject, type JsonObject } from "../../protocol/json/lossless.ts";
import type { Rule } from "./draft.ts";
import { messagesOf, rewriteMessages } from "./messages.ts";
import { unsupported } from "./refusal.ts";

/** Templates that take only text get the texts of a list joined; a picture is never left out in silence. */
export const contentParts: Rule = {
  name: "content-parts",
  apply(draft) {
    if (draft.target.capabilities.content_parts) return undefined;
    let lists = false;
    for (const [i, { content }] of messagesOf(draft).entries()) {
      if (!Array.isArray(content)) continue;
      lists = true;
      const at = content.findIndex((part) => textOf(part) === undefined);
      if (at >= 0) return unsupported(`messages[${i}].content[${at}]`, "content other than text");
    }
    if (!lists) return undefined;
    rewriteMessages(draft, "content_parts->text", (message): JsonObject => {
      const { content } = message;
      return Array.isArray(content) ? { ...message, content: content.map(textOf).join("\n") } : message;
    });
    return undefined;
  },
};

function textOf(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  if (!isObject(part)) return undefined;
  const text = part["type"] === "refusal" ? part["refusal"] : part["type"] === "text" ? part["text"] : undefined;
  return typeof text === "string" ? text : undefined;
}
