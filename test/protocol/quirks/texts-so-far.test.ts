import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import { createUnrepeat } from "../../../src/protocol/quirks/texts-so-far.ts";

const contents = (list: readonly unknown[], key = "content"): unknown[] => {
  const unrepeat = createUnrepeat();
  return list.map((text) => (unrepeat({ index: 0, delta: { [key]: text } })["delta"] as JsonObject)[key]);
};

describe("texts so far", () => {
  it("become what is new", () => {
    expect(contents(["Ha", "Haha", "Haha", "Hahaha"])).toEqual(["Ha", "ha", "", "ha"]);
    expect(contents(["We", "We see"], "reasoning")).toEqual(["We", " see"]);
  });

  it("say everything once, wherever they are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", minLength: 1 })), (pieces) => {
        const soFar = pieces.map((_, i) => pieces.slice(0, i + 1).join(""));
        expect(contents(soFar).join("")).toBe(pieces.join("").replace(/\ufffd+$/, ""));
      }),
    );
  });

  it("lose nothing where a text is none so far, and take back nothing", () => {
    expect(contents(["Hello", "Hell", " world", null, ""])).toEqual(["Hello", "", " world", "", ""]);
  });

  it("wait for the other half of a character", () => {
    expect(contents(["Gr\ufffd", "Grü"])).toEqual(["Gr", "ü"]);
    const last = createUnrepeat()({ delta: { content: "Gr\ufffd" }, finish_reason: "stop" });
    expect(last["delta"]).toEqual({ content: "Gr\ufffd" });
  });

  it("are told apart by their call", () => {
    const unrepeat = createUnrepeat();
    const args = (...list: (readonly [index: number | undefined, args: unknown])[]): unknown => {
      const calls = list.map(([index, args]) => ({ index, function: { name: "f", arguments: args } }));
      const { tool_calls } = unrepeat({ delta: { tool_calls: calls } })["delta"] as { tool_calls: JsonObject[] };
      return tool_calls.map((call) => [call["index"], (call["function"] as JsonObject)["arguments"]]);
    };
    expect(args([0, '{"a'])).toEqual([[0, '{"a']]);
    expect(args([0, '{"a":1}'], [0, "{"])).toEqual([
      [0, '":1}'],
      [1, "{"],
    ]);
    expect(args([undefined, '{"a":1}'], [undefined, "{}"])).toEqual([
      [0, ""],
      [1, "}"],
    ]);
  });
});
