import type { JsonObject } from "../../protocol/json/lossless.ts";
import { membersOf } from "../../protocol/json/members.ts";
import type { Draft, Rule } from "./draft.ts";

// What a request is routed by, or is.
const NEVER: ReadonlySet<string> = new Set(["model", "messages", "prompt", "input"]);
// What a route has read of a request by the time it is shaped.
const READ: ReadonlySet<string> = new Set(["stream", "stream_options", "n"]);

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_completion_tokens"],
  ["max_completion_tokens", "max_tokens"],
]);

const isSaid = (body: JsonObject, name: string): boolean =>
  Object.hasOwn(body, name) && body[name] !== undefined && body[name] !== null;

/** The names of defaults that a request leaves open. */
function openNames(defaults: JsonObject, has: (name: string) => boolean): string[] {
  return Object.keys(defaults).filter((name) => {
    const synonym = SYNONYMS.get(name);
    return defaults[name] !== null && !NEVER.has(name) && !has(name) && !(synonym !== undefined && has(synonym));
  });
}

/** A request with what the operator wants where the client says nothing: as if it had said it. `changed` names what was filled in. */
export function withDefaults(
  text: string,
  body: JsonObject,
  defaults: JsonObject,
): { readonly text: string; readonly changed: readonly string[] } {
  const names = openNames(defaults, (name) => isSaid(body, name));
  if (names.length === 0) return { text, changed: [] };
  const members = membersOf(text);
  for (const name of names) members.set(name, JSON.stringify(defaults[name]));
  return { text: members.toText(), changed: names.map((name) => `+${name}`) };
}

/** The same for a route that has read its request without them: only what it has not looked at. */
export const defaults: Rule = {
  name: "defaults",
  apply(draft: Draft) {
    for (const name of openNames(draft.defaults, draft.has)) {
      if (!READ.has(name)) draft.set(name, draft.defaults[name], `+${name}`);
    }
    return undefined;
  },
};
