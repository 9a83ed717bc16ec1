import type { Rule } from "./draft.ts";

/** Where a name leads is no secret and no change of what was asked: it is not told. */
export const targetModel: Rule = {
  name: "target-model",
  apply(draft) {
    const { model } = draft.target;
    if (model !== undefined && model !== draft.get("model")) draft.route(model);
    return undefined;
  },
};
