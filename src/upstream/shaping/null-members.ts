import type { Rule } from "./draft.ts";

/** A null means "the default", and some servers take it for a value. Those inside of members mean what they say. */
export const nullMembers: Rule = {
  name: "null-members",
  apply(draft) {
    for (const name of draft.names) if (draft.get(name) === null) draft.drop(name);
    return undefined;
  },
};
