import type { Rule } from "./draft.ts";

/** "All tokens" is 0 to some servers and -1 to others. */
export const topKOff: Rule = {
  name: "top-k-off",
  apply(draft) {
    const value = draft.get("top_k");
    const off = draft.target.capabilities.top_k_off;
    if ((value !== 0 && value !== -1) || off === "any") return undefined;
    if (off === "omit") draft.drop("top_k");
    else if (value !== Number(off)) draft.set("top_k", Number(off), "~top_k");
    return undefined;
  },
};
