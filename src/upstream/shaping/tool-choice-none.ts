import type { Rule } from "./draft.ts";

/** A server that calls tools in spite of `none` does not get to see any. */
export const toolChoiceNone: Rule = {
  name: "tool-choice-none",
  apply(draft) {
    const { capabilities, text } = draft.target;
    if (capabilities.tool_choice_none || text.tools !== "none" || draft.get("tool_choice") !== "none") return undefined;
    for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) if (draft.has(name)) draft.drop(name);
    return undefined;
  },
};
