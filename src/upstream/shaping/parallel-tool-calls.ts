import type { Rule } from "./draft.ts";

/** Some servers refuse the very key. */
export const parallelToolCalls: Rule = {
  name: "parallel-tool-calls",
  apply(draft) {
    if (!draft.target.capabilities.parallel_tool_calls && draft.has("parallel_tool_calls"))
      draft.drop("parallel_tool_calls");
    return undefined;
  },
};
