import { describe, expect, it } from "vitest";
import { createLegacyFunctionsPass } from "../../src/protocol/chat/legacy-functions.ts";
import type { JsonObject } from "../../src/protocol/json/lossless.ts";

const call = (index: number, more: object): JsonObject => ({ tool_calls: [{ index, ...more }] });
const opening = (index: number, name: string, args = "", id = `call_${index}`): JsonObject =>
  call(index, { id, type: "function", function: { name, arguments: args } });
const rest = (index: number, args: string): JsonObject => call(index, { function: { arguments: args } });

function passed(deltas: JsonObject[], finish: "stop" | "tool_calls" | "length" = "tool_calls"): unknown {
  const pass = createLegacyFunctionsPass();
  const out = deltas.flatMap((delta) => pass.take(delta));
  const end = pass.end(finish);
  return [...out, ...end.deltas, end.finish];
}
const said = (args: string): object => ({ function_call: { arguments: args } });

describe("an answer for a client that speaks of functions", () => {
  it.each<[string, JsonObject[], unknown]>([
    [
      "a call",
      [{ role: "assistant", content: null }, opening(0, "f"), rest(0, '{"a":'), rest(0, "1}")],
      [
        { role: "assistant", content: null },
        { function_call: { name: "f", arguments: "" } },
        said('{"a":'),
        said("1}"),
        "function_call",
      ],
    ],
    [
      "text before it",
      [{ content: "x" }, opening(0, "f", "{}")],
      [{ content: "x" }, { function_call: { name: "f", arguments: "{}" } }, "function_call"],
    ],
    [
      "beside text",
      [{ content: "x", ...opening(0, "f", "{}") }],
      [{ content: "x" }, { function_call: { name: "f", arguments: "{}" } }, "function_call"],
    ],
    ["no arguments", [opening(0, "f")], [{ function_call: { name: "f", arguments: "" } }, said("{}"), "function_call"]],
    [
      "a second call has no word",
      [opening(0, "f", "{}"), opening(1, "g"), rest(1, "{}")],
      [{ function_call: { name: "f", arguments: "{}" } }, "function_call"],
    ],
    [
      "a second call at the same index",
      [opening(0, "f", "{}", "a"), opening(0, "g", "", "b"), rest(0, "{}")],
      [{ function_call: { name: "f", arguments: "{}" } }, "function_call"],
    ],
    [
      "a whole message",
      [{ content: null, tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] }],
      [{ content: null }, { function_call: { name: "f", arguments: "{}" } }, "function_call"],
    ],
  ])("%s", (_name, deltas, expected) => expect(passed(deltas)).toEqual(expected));

  it("without a call nothing changes", () =>
    expect(passed([{ content: "x" }], "stop")).toEqual([{ content: "x" }, "stop"]));
  it("a call that was cut short stays so", () =>
    expect(passed([opening(0, "f")], "length")).toEqual([{ function_call: { name: "f", arguments: "" } }, "length"]));
});
