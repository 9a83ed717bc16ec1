import type { Rule } from "./draft.ts";

/** One thing under two names. */
export const repetitionPenalty: Rule = {
  name: "repetition-penalty",
  apply(draft) {
    const known = draft.target.capabilities.repetition_penalty;
    if (known === "any") return undefined;
    const other = known === "repetition_penalty" ? "repeat_penalty" : "repetition_penalty";
    if (!draft.has(other)) return undefined;
    if (draft.has(known)) draft.drop(other);
    else draft.rename(other, known);
    return undefined;
  },
};
