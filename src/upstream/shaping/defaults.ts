import type { Draft, Rule } from "./draft.ts";

// What the gateway itself has read of the request by now.
const READ: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options", "n"]);

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_completion_tokens"],
  ["max_completion_tokens", "max_tokens"],
]);

const said = (draft: Draft, name: string | undefined): boolean => name !== undefined && draft.has(name);

/** What the operator wants where the client says nothing. */
export const defaults: Rule = {
  name: "defaults",
  apply(draft) {
    for (const [name, value] of Object.entries(draft.defaults)) {
      if (value === null || READ.has(name) || said(draft, name) || said(draft, SYNONYMS.get(name))) continue;
      draft.set(name, value, `+${name}`);
    }
    return undefined;
  },
};
