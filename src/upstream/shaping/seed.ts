import type { Rule } from "./draft.ts";

/** Where the same number has another name. */
export const seed: Rule = {
  name: "seed",
  apply(draft) {
    const name = draft.target.capabilities.seed;
    if (name !== "any" && draft.has("seed")) draft.rename("seed", name);
    return undefined;
  },
};
