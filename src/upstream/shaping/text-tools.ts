import type { Rule } from "./draft.ts";

/**
 * Tool calls that the model writes as text are read here, so the server must not look for them itself (many refuse `auto` without a
 * parser of their own) but still has to show the model its tools; and the markers of calls and thoughts are special tokens, which
 * it would leave out.
 */
export const textTools: Rule = {
  name: "text-tools",
  apply(draft) {
    const { text, template } = draft.target;
    if (template !== "none" || (text.tools === "none" && text.reasoning === "none")) return undefined;
    if (!draft.has("skip_special_tokens")) draft.set("skip_special_tokens", false, "+skip_special_tokens");
    if (text.tools === "none" || !Array.isArray(draft.get("tools")) || draft.get("tool_choice") === "none") {
      return undefined;
    }
    draft.set("tool_choice", "none", "~tool_choice");
    if (draft.has("parallel_tool_calls")) draft.drop("parallel_tool_calls");
    return undefined;
  },
};
