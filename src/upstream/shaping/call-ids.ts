import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../../protocol/json/lossless.ts";
import type { Rule } from "./draft.ts";
import { callsOf, messagesOf, rewriteMessages } from "./messages.ts";

const ACCEPTED = /^[A-Za-z0-9]{9}$/;

/** The same id for the same id, so that calls and their results still find each other. */
const shortened = (id: string): string =>
  ACCEPTED.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);

/** Ids of calls that another server has made are refused by one that has a form of its own. */
export const callIds: Rule = {
  name: "call-ids",
  apply(draft) {
    if (draft.target.capabilities.tool_call_ids === "any") return undefined;
    const isForeign = (id: unknown): boolean => typeof id === "string" && !ACCEPTED.test(id);
    const foreign = messagesOf(draft).some(
      (message) => isForeign(message["tool_call_id"]) || callsOf(message).some((call) => isForeign(idOf(call))),
    );
    if (!foreign) return undefined;
    rewriteMessages(draft, "~tool_calls.id", (message) => {
      const { tool_call_id: id } = message;
      const calls = callsOf(message).map(renamed);
      return {
        ...message,
        ...(typeof id === "string" ? { tool_call_id: shortened(id) } : {}),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      };
    });
    return undefined;
  },
};

const idOf = (call: unknown): unknown => (isObject(call) ? call["id"] : undefined);

function renamed(call: unknown): unknown {
  const id = idOf(call);
  return typeof id === "string" ? { ...(call as JsonObject), id: shortened(id) } : call;
}
