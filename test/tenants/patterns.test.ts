import { describe, expect, it } from "vitest";
import { createPatterns } from "../../src/tenants/patterns.ts";

const patterns = (...names: string[]): ((name: string) => string | undefined) =>
  createPatterns(names.map((name) => [name, name] as const)).find;

describe("createPatterns", () => {
  it.each<[readonly string[], string, string | undefined]>([
    [["llama"], "llama", "llama"],
    [["llama"], "llama-3", undefined],
    [["llama"], "Llama", undefined],
    [["llama-*"], "llama-3", "llama-*"],
    [["llama-*"], "llama-", "llama-*"],
    [["llama-*"], "llama", undefined],
    [["*"], "anything/at all", "*"],
    [["*"], "", "*"],
    [["*", "a*", "ab*", "abc"], "abc", "abc"],
    [["*", "a*", "ab*", "abc"], "abd", "ab*"],
    [["ab*", "*", "a*"], "ac", "a*"],
    [["ab*", "*", "a*"], "c", "*"],
    [["a*", "a"], "a", "a"],
    [["org/*"], "org/model:7b", "org/*"],
    [["a.c"], "abc", undefined],
    [[], "a", undefined],
    [["a"], "toString", undefined],
    [["a"], "__proto__", undefined],
  ])("%j of %s: %s", (names, name, found) => expect(patterns(...names)(name)).toBe(found));

  it("lists the names without a *", () =>
    expect(
      createPatterns([
        ["a", 1],
        ["b*", 2],
        ["*", 3],
        ["c", 4],
      ]).exact,
    ).toEqual(["a", "c"]));
});
