import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { membersOf, withMore, withoutRepeats } from "../../../src/protocol/json/members.ts";

const edited = (text: string, ...changes: readonly (readonly [string, string | undefined])[]): string => {
  const members = membersOf(text);
  for (const [key, value] of changes) members.set(key, value);
  return members.toText();
};

describe("membersOf", () => {
  it.each([
    ['{"a":1}'],
    ["{}"],
    [' { "a" : [1, 2 ] ,\n\t"b":{"c":"}"} } '],
    ['{"seed":9007199254740993,"x":1.50,"y":-0,"z":1E400}'],
    ['{"a":"\\"\\\\","b":"\\ud83d"}'],
  ])("leaves a text alone that nothing was changed in: %s", (text) => {
    expect(edited(text)).toBe(text);
  });

  it.each<[string, string, readonly (readonly [string, string | undefined])[], string]>([
    ["adds", '{"a":1}', [["b", "2"]], '{"a":1,"b":2}'],
    ["adds to nothing", "{}", [["b", "2"]], '{"b":2}'],
    ["adds to nothing with space in it", " { \n } ", [["b", "2"]], '{"b":2}'],
    ["replaces in its place", '{"a":1,"b":2,"c":3}', [["b", '"x"']], '{"a":1,"b":"x","c":3}'],
    ["removes the first", '{"a":1,"b":2}', [["a", undefined]], '{"b":2}'],
    ["removes the last", '{"a":1,"b":2}', [["b", undefined]], '{"a":1}'],
    ["removes the only one", '{ "a" : 1 }', [["a", undefined]], "{}"],
    [
      "keeps the spelling of the others",
      '{"seed": 9007199254740993 , "t":1.50, "a":1}',
      [["a", undefined]],
      '{"seed": 9007199254740993,"t":1.50}',
    ],
    [
      "is not misled by nested members of that name",
      '{"x":{"a":1},"y":["a",{"a":2}],"a":3}',
      [["a", "9"]],
      '{"x":{"a":1},"y":["a",{"a":2}],"a":9}',
    ],
    ["is not misled by strings", '{"x":"\\"a\\":1,{","a":3}', [["a", undefined]], '{"x":"\\"a\\":1,{"}'],
    [
      "is not misled by backslashes",
      '{"x":"\\\\","y":"\\\\\\"}","a":3}',
      [["a", undefined]],
      '{"x":"\\\\","y":"\\\\\\"}"}',
    ],
    ["finds an escaped key", '{"\\u0073tream":true,"a":1}', [["stream", "false"]], '{"stream":false,"a":1}'],
    ["removes an escaped key", '{"str\\u0065am":true,"a":1}', [["stream", undefined]], '{"a":1}'],
    ["finds a key with a quote in it", '{"a\\"b":1,"c":2}', [['a"b', undefined]], '{"c":2}'],
    [
      "a later set wins",
      '{"a":1}',
      [
        ["a", "2"],
        ["a", undefined],
        ["a", "3"],
      ],
      '{"a":3}',
    ],
    ["knows an empty key", '{"":1,"a":2}', [["", undefined]], '{"a":2}'],
    [
      "knows __proto__ as a key like any other",
      '{"__proto__":{"x":1},"a":2}',
      [["a", undefined]],
      '{"__proto__":{"x":1}}',
    ],
    [
      "removes __proto__",
      '{"__proto__":1,"constructor":2,"a":2}',
      [["__proto__", undefined]],
      '{"constructor":2,"a":2}',
    ],
  ])("%s", (_name, text, changes, expected) => {
    expect(edited(text, ...changes)).toBe(expected);
  });

  it("writes a key that stands twice only once: the value that JSON.parse reads", () => {
    expect(JSON.parse(edited('{"stream":true,"a":1,"stream":false}'))).toEqual({ a: 1, stream: false });
    expect(edited('{"stream":true,"a":1,"stream":false}').match(/stream/g)).toHaveLength(1);
    expect(edited('{"stream":true,"str\\u0065am":false}').match(/str/g)).toHaveLength(1);
    expect(edited('{"stream":true,"stream":false,"a":1}', ["stream", undefined])).toBe('{"a":1}');
  });

  const key = fc.oneof(
    fc.constantFrom("a", "b", "__proto__", "", "stream", 'q"\\'),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const space = fc.constantFrom("", " ", "\n\t", "\r\n ");
  const escaped = (text: string, all: boolean): string =>
    all
      ? `"${[...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`
      : JSON.stringify(text);

  it("edits any object as JSON.parse would see it, and nothing else", { timeout: 60_000 }, () => {
    const member = fc.record({
      key,
      value: fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }),
      gap: space,
      all: fc.boolean(),
    });
    const change = fc.tuple(key, fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }));
    fc.assert(
      fc.property(
        fc.array(member, { maxLength: 6 }),
        fc.array(change, { maxLength: 3 }),
        space,
        (list, changes, gap) => {
          const text = `${gap}{${gap}${list
            .map(
              (one) =>
                `${one.gap}${escaped(one.key, one.all)}${one.gap}:${one.gap}${JSON.stringify(one.value, null, one.gap.length)}${one.gap}`,
            )
            .join(",")}}${gap}`;
          const expected = new Map(Object.entries(JSON.parse(text) as object));
          for (const [name, value] of changes) {
            if (value === undefined) expected.delete(name);
            else expected.set(name, value);
          }
          const members = membersOf(text);
          for (const [name, value] of changes)
            members.set(name, value === undefined ? undefined : JSON.stringify(value));
          const read = Object.entries(JSON.parse(members.toText()) as object);
          expect(new Map(read.map(([name, value]) => [name, JSON.stringify(value)]))).toEqual(
            new Map([...expected].map(([name, value]) => [name, JSON.stringify(value)])),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it("reads a string of many megabytes, full of quotes and backslashes", () => {
    const long = '\\"'.repeat(1_000_000);
    expect(edited(`{"long":"${long}","a":1}`, ["a", undefined])).toBe(`{"long":"${long}"}`);
    const backslashes = "\\\\".repeat(300_000);
    expect(edited(`{"long":"${backslashes}","a":1}`, ["a", undefined])).toBe(`{"long":"${backslashes}"}`);
  });

  it("does linear work for a string of backslashes and quotes in turn", () => {
    // Each quote is escaped by the last of many backslashes.
    const piece = `${"\\".repeat(2001)}"`;
    const long = piece.repeat(500);
    expect(edited(`{"long":"${long}","a":1}`, ["a", undefined])).toBe(`{"long":"${long}"}`);
  });
});

describe("withoutRepeats", () => {
  it.each([
    ['{"a":1}', '{"a":1}'],
    ["{}", "{}"],
    [' { "a" : [1,2] , "b":"," } ', ' { "a" : [1,2] , "b":"," } '],
    ['{"a":1,"b":2,"a":3}', '{"b":2,"a":3}'],
    ['{"a":1,"\\u0061":2}', '{"\\u0061":2}'],
    ['{"__proto__":1,"__proto__":2}', '{"__proto__":2}'],
  ])("%s", (text, wanted) => {
    expect(withoutRepeats(text, Object.keys(JSON.parse(text) as object).length)).toBe(wanted);
  });
});

describe("withMore", () => {
  it.each<[string, readonly (readonly [string, string])[], string]>([
    ["{}", [["a", "1"]], '{"a":1}'],
    [" { } ", [["a", "1"]], ' { "a":1}'],
    [
      '{"x":"}"} \n',
      [
        ["a", "1"],
        ['b"', '"2"'],
      ],
      '{"x":"}","a":1,"b\\"":"2"}',
    ],
  ])("%s", (text, more, wanted) => {
    const isEmpty = Object.keys(JSON.parse(text) as object).length === 0;
    expect(withMore(text, isEmpty, more)).toBe(wanted);
    expect(JSON.parse(withMore(text, isEmpty, more))).toEqual({
      ...(JSON.parse(text) as object),
      ...Object.fromEntries(more.map(([key, value]) => [key, JSON.parse(value) as unknown])),
    });
  });
});
