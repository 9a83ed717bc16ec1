import { expect, it } from "vitest";
import { ALIASES, REASONING_FAMILY_NAMES, TOOL_FAMILIES } from "../../../src/protocol/text/family-names.ts";
import { REASONING_FAMILIES } from "../../../src/protocol/text/reasoning-families.ts";
import { TOOL_FAMILY_NAMES } from "../../../src/protocol/text/tools/catalog.ts";

it("the names that a configuration may use are those that there are", () => {
  expect([...TOOL_FAMILIES, ...Object.keys(ALIASES)].sort()).toEqual([...TOOL_FAMILY_NAMES].sort());
  expect([...REASONING_FAMILY_NAMES]).toEqual([...REASONING_FAMILIES.keys()]);
});
