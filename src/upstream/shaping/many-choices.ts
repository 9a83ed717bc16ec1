import type { Rule } from "./draft.ts";
import { unsupported } from "./refusal.ts";

/** How many choices are asked for one by one, where a server gives one answer at a time. */
export const MOST_COPIES = 8;

export const manyChoices: Rule = {
  name: "many-choices",
  apply(draft) {
    const n = draft.get("n");
    if (draft.target.capabilities.n || typeof n !== "number" || n <= 1) return undefined;
    if (n > MOST_COPIES) return unsupported("n", `more than ${MOST_COPIES} choices`);
    draft.answer.copies = n;
    draft.drop("n", "n->requests");
    return undefined;
  },
};
