import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deeperThan,
  digitsOf,
  isObject,
  parseLossless,
  parseTolerant,
  withoutNonFinite,
} from "../../../src/protocol/json/lossless.ts";

const again = (text: string): string => JSON.stringify(parseLossless(text));

describe("parseLossless", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "1.50",
    "1.0",
    "10.00",
    "-0",
    "-0.0",
    "0.1",
    "1e5",
    "1E5",
    "1e+5",
    "1.5e-7",
    "0.0000001",
    "1e400",
    "123456789012345678901234567890",
    "0.30000000000000004",
    "0.1234567890123456789",
    "1234567.8901234567",
    "123456789.123456789",
    "100000000000000000000000",
    "5",
    "-9999.0",
  ])("keeps the spelling of %s", (digits) => {
    for (const frame of [
      (x: string) => `[${x}]`,
      (x: string) => `{"a":${x}}`,
      (x: string) => `[[{"a":${x},"b":${x}}],${x}]`,
    ]) {
      expect(again(frame(digits))).toBe(frame(digits));
    }
  });

  it("keeps the spelling before white space of every kind", () => {
    for (const space of [" ", "\n", "\r", "\t"]) expect(again(`[1.0${space},2.50${space}]`)).toBe("[1.0,2.50]");
  });

  it("keeps the spelling of any number", () => {
    const whole = fc.stringMatching(/^(?:0|[1-9]\d{0,24})$/);
    const number = fc.tuple(
      fc.constantFrom("", "-"),
      whole,
      fc.option(fc.stringMatching(/^\.\d{1,20}$/)),
      fc.option(fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
    );
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 4 }), (numbers) => {
        const text = `{"list":[${numbers.map((parts) => parts.join("")).join(",")}]}`;
        expect(again(text)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves text alone that looks like numbers", () => {
    expect(parseLossless('{"a":"1.0, 9007199254740993","b":9007199254740993}')).toMatchObject({
      a: "1.0, 9007199254740993",
    });
  });

  it("does not trip over __proto__", () => {
    const value = parseLossless('{"__proto__":{"x":1.0},"y":2}') as object;
    expect(Object.keys(value)).toEqual(["__proto__", "y"]);
    expect((value as { x?: number }).x).toBe(undefined);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1.0},"y":2}');
  });

  it("throws what JSON.parse throws", () => {
    expect(() => parseLossless("{")).toThrow(SyntaxError);
    expect(() => parseLossless("[1.0,]")).toThrow(SyntaxError);
  });
});

describe("digitsOf", () => {
  it.each<[unknown, string | undefined]>([
    [5, "5"],
    [1.5, "1.5"],
    [0, "0"],
    ["5", undefined],
    [null, undefined],
    [true, undefined],
    [{}, undefined],
  ])("%j is %s", (value, digits) => expect(digitsOf(value)).toBe(digits));

  it("gives the spelling of a number that was kept", () => {
    expect(digitsOf((parseLossless("[1.50]") as unknown[])[0])).toBe("1.50");
    expect(digitsOf(parseLossless("9007199254740993"))).toBe("9007199254740993");
  });
});

describe("isObject", () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [[], false],
    [null, false],
    ["", false],
    [undefined, false],
    [JSON.rawJSON("1.0"), false],
  ])("%j: %s", (value, expected) => {
    expect(isObject(value)).toBe(expected);
  });
});

describe("the dialect with NaN and Infinity", () => {
  it.each([
    ['{"a":NaN}', '{"a":null}'],
    ['{"a":-Infinity,"b":Infinity}', '{"a":-9999.0,"b":9999.0}'],
    ["[NaN,NaN]", "[null,null]"],
    ['{"a":-NaN}', '{"a":null}'],
    ['{"NaN":NaN,"b":"Infinity","c":"\\"NaN"}', '{"NaN":null,"b":"Infinity","c":"\\"NaN"}'],
    ['{"a":"say \\\\","b":-Infinity}', '{"a":"say \\\\","b":-9999.0}'],
    ['{"a":1}', '{"a":1}'],
  ])("%s", (text, legal) => expect(withoutNonFinite(text)).toBe(legal));

  it("says whether a text was legal", () => {
    expect(parseTolerant('{"a":1}')).toEqual({ value: { a: 1 }, legal: true });
    expect(parseTolerant('{"a":"NaN"}')).toEqual({ value: { a: "NaN" }, legal: true });
    expect(parseTolerant('{"logprob":-Infinity}')).toEqual({ value: { logprob: -9999 }, legal: false });
    expect(parseTolerant('{"a":NaN')).toBe(undefined);
    expect(parseTolerant("nothing")).toBe(undefined);
    expect(parseTolerant("")).toBe(undefined);
  });
});

describe("deeperThan", () => {
  const nested = (levels: number, open: string, close: string): unknown =>
    JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);

  it.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("counts levels of %s", (_name, open, close) => {
    expect(deeperThan(nested(10, open, close), 10)).toBe(false);
    expect(deeperThan(nested(11, open, close), 10)).toBe(true);
  });

  it("finds the one deep value among many", () => {
    const wide = { a: [1, 2, [3]], b: { c: {} }, d: nested(12, "[", "]") };
    expect(deeperThan(wide, 13)).toBe(false);
    expect(deeperThan(wide, 12)).toBe(true);
  });

  it("is not stopped by what would overflow the stack", () => {
    let value: unknown = 1;
    for (let i = 0; i < 200_000; i++) value = [value];
    expect(deeperThan(value, 500)).toBe(true);
  });

  it("takes simple values for flat", () => {
    for (const value of [1, "x".repeat(10_000), null, true, [], {}]) expect(deeperThan(value, 1)).toBe(false);
  });
});
