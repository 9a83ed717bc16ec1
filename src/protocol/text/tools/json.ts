import type { ToolFamily } from "../family.ts";
import { jsonBlock } from "../json-call.ts";

/** Calls as bare JSON at the very start, `{"name": "f", ...}` or a list of such: what is left where a server strips the tags. */
export const json: ToolFamily = {
  name: "json",
  openings: [],
  bare: () => [
    ["{", '"name"'],
    ["[", "{", '"name"'],
  ],
  read: (source) => jsonBlock(source, []),
};
