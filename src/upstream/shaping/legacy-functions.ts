import { isObject, type JsonObject } from "../../protocol/json/lossless.ts";
import type { Draft, Rule } from "./draft.ts";
import { messagesOf, rewriteMessages } from "./messages.ts";

/** Functions are what tools were called at first. Servers that have forgotten them ignore them without a word. */
export const legacyFunctions: Rule = {
  name: "legacy-functions",
  apply(draft) {
    if (draft.target.capabilities.functions) return undefined;
    if (Array.isArray(draft.get("functions"))) {
      draft.answer.legacyFunctions = !draft.has("tools");
      const tools = (draft.lossless("tools") ?? []) as readonly unknown[];
      const more = (draft.lossless("functions") as readonly unknown[]).map((one) => ({
        type: "function",
        function: one,
      }));
      draft.set("tools", [...tools, ...more], "functions->tools");
      draft.drop("functions", "functions->tools");
    }
    if (draft.has("function_call")) choose(draft);
    if (messagesOf(draft).some(isLegacy)) rewriteHistory(draft);
    return undefined;
  },
};

function choose(draft: Draft): void {
  const choice = draft.get("function_call");
  if (!draft.has("tools") && !isObject(choice)) return draft.drop("function_call");
  const named = isObject(choice) ? { type: "function", function: { name: choice["name"] } } : choice;
  draft.set("tool_choice", named, "function_call->tool_choice");
  draft.drop("function_call", "function_call->tool_choice");
}

const isLegacy = (message: JsonObject): boolean => message["role"] === "function" || isObject(message["function_call"]);

/** A result belongs to the last call before it. */
function rewriteHistory(draft: Draft): void {
  let id = "";
  rewriteMessages(draft, "function_call->tool_calls", (message, at) => {
    if (isObject(message["function_call"])) {
      const { function_call, ...rest } = message;
      id = `call_${at}`;
      return { ...rest, tool_calls: [{ id, type: "function", function: function_call }] };
    }
    if (message["role"] !== "function") return message;
    const { name: _name, ...rest } = message;
    return { ...rest, role: "tool", tool_call_id: id === "" ? `call_${at}` : id };
  });
}
