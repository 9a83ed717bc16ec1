import type { Rule } from "./draft.ts";
import { wrongValue } from "./refusal.ts";

const NEW = "max_completion_tokens";
const OLD = "max_tokens";

/** The bound of an answer under the name that the upstream reads; never both, of which the newer one counts. */
export const maxTokens: Rule = {
  name: "max-tokens",
  apply(draft) {
    for (const name of [OLD, NEW])
      if (draft.get(name) === 0) return wrongValue(name, "an answer needs at least 1 token");
    const known = draft.target.capabilities.max_tokens;
    if (known === OLD) {
      if (draft.has(NEW)) draft.rename(NEW, OLD);
    } else if (draft.has(OLD)) {
      if (draft.has(NEW)) draft.drop(OLD);
      else if (known === NEW) draft.rename(OLD, NEW);
    }
    return undefined;
  },
};
