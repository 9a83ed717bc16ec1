import { describe, expect, it } from "vitest";
import type { AnswerShape } from "../../../src/protocol/chat/types.ts";
import { chunk, ROLE, streamOf, told, type Json } from "./streamed.ts";

interface Piece {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly type?: unknown;
  readonly name?: unknown;
  readonly args?: unknown;
}
const piece = ({ name, args, ...rest }: Piece): Json => ({
  ...rest,
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
interface Told {
  index: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: string };
}
interface Built {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly args: string;
}

/** Plays deltas (several pieces may share one) and holds what leaves to the contract. */
function play(
  deltas: readonly (readonly Piece[])[],
  shape: Partial<AnswerShape> = {},
  finish = "tool_calls",
): { calls: Built[]; finish: unknown } {
  const out = streamOf(
    [chunk(ROLE), ...deltas.map((pieces) => chunk({ tool_calls: pieces.map(piece) })), chunk({}, finish), "[DONE]"],
    { shape },
  );
  expect(out.done).toBe(true);
  const calls: { id: string | undefined; name: string | undefined; args: string }[] = [];
  for (const delta of told(out).slice(1, -1) as { tool_calls: Told[] }[]) {
    expect(delta.tool_calls).toHaveLength(1);
    const [call] = delta.tool_calls as [Told];
    const open = calls[call.index];
    if (open === undefined) {
      expect(call.index).toBe(calls.length);
      expect(call).toMatchObject({
        id: expect.stringMatching(/./) as string,
        type: "function",
        function: { name: expect.stringMatching(/./) as string },
      });
      calls.push({ id: call.id, name: call.function?.name, args: call.function?.arguments ?? "" });
    } else {
      expect(call).toEqual({ index: call.index, function: { arguments: expect.any(String) as string } });
      open.args += call.function?.arguments ?? "";
    }
  }
  return { calls, finish: told(out).at(-1) };
}

const f = (args: string, id = "call_1"): Built => ({ id, name: "f", args });
const g = (args: string, id = "call_2"): Built => ({ id, name: "g", args });

describe("a call delta belongs to", () => {
  it.each<[string, readonly (readonly Piece[])[], readonly Built[], Partial<AnswerShape>?]>([
    [
      "its index",
      [
        [{ index: 0, id: "call_1", type: "function", name: "f", args: "" }],
        [{ index: 1, id: "call_2", type: "function", name: "g", args: "" }],
        [{ index: 0, args: "[1" }],
        [{ index: 1, args: "[2" }],
        [{ index: 0, args: "]" }],
        [{ index: 1, args: "]" }],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "its id, without an index",
      [
        [{ id: "call_1", name: "f", args: "" }],
        [{ id: "call_2", name: "g", args: "" }],
        [{ id: "call_1", args: "[1]" }],
        [{ id: "call_2", args: "[2]" }],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "the last open call, without index and id",
      [
        [{ id: "call_1", name: "f", args: "" }],
        [{ args: "[1" }],
        [{ args: "]" }],
        [{ id: "call_2", name: "g", args: "" }],
        [{ args: "[2]" }],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "the last open call, when the index is null",
      [[{ index: null, id: "call_1", name: "f", args: "[" }], [{ index: null, args: "1]" }]],
      [f("[1]")],
    ],
    [
      "its index although id and type are repeated",
      [
        [{ index: 0, id: "call_1", type: "function", name: "f", args: "[" }],
        [{ index: 0, id: "call_1", type: "function", args: "1" }],
        [{ index: 0, id: "call_1", type: "function", name: null, args: "]" }],
      ],
      [f("[1]")],
    ],
    [
      "its index although the name is repeated too",
      [
        [{ index: 0, id: "call_1", name: "f", args: "[" }],
        [{ index: 0, id: "call_1", name: "f", args: "1" }],
        [{ index: 0, id: "call_1", name: "f", args: "]" }],
      ],
      [f("[1]")],
    ],
    [
      "its index although id is null later (SGLang)",
      [
        [{ index: 0, id: "call_1", type: "function", name: "f", args: "" }],
        [{ index: 0, id: null, type: "function", name: null, args: "[1]" }],
      ],
      [f("[1]")],
    ],
    [
      "its index although the id changes after the first delta",
      [
        [{ index: 0, id: "call_1", name: "f", args: "" }],
        [{ index: 0, id: "call_x", args: "[1" }],
        [{ index: 0, id: "call_y", args: "]" }],
      ],
      [f("[1]")],
    ],
    [
      "its index although the id is empty later",
      [[{ index: 0, id: "call_1", name: "f", args: "" }], [{ index: 0, id: "", name: "", args: "[1]" }]],
      [f("[1]")],
    ],
  ])("%s", (_name, deltas, calls, shape) => expect(play(deltas, shape)).toEqual({ calls, finish: "tool_calls" }));
});

describe("a new call opens", () => {
  it.each<[string, readonly (readonly Piece[])[], readonly Built[], Partial<AnswerShape>?]>([
    [
      "with a new id and name at a used index (all calls at 0)",
      [[{ index: 0, id: "call_1", name: "f", args: "[1]" }], [{ index: 0, id: "call_2", name: "g", args: "[2]" }]],
      [f("[1]"), g("[2]")],
    ],
    [
      "with a new id and the same name at a used index",
      [[{ index: 0, id: "call_1", name: "f", args: "[1]" }], [{ index: 0, id: "call_2", name: "f", args: "[2]" }]],
      [f("[1]"), f("[2]", "call_2")],
    ],
    [
      "with a new id and name at a used index, arguments later",
      [
        [{ index: 0, id: "call_1", name: "f", args: "" }],
        [{ index: 0, args: "[1]" }],
        [{ index: 0, id: "call_2", name: "g", args: "" }],
        [{ index: 0, args: "[2]" }],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "with a new complete name at a used index, without ids",
      [[{ index: 0, name: "f", args: "[1]" }], [{ index: 0, name: "g", args: "[2]" }]],
      [f("[1]", "call_made1"), g("[2]", "call_made2")],
      { toolNames: ["f", "g"] },
    ],
    [
      "with the same name at a used index, when the first call is complete",
      [[{ index: 0, name: "f", args: "[1]" }], [{ index: 0, name: "f", args: "[2]" }]],
      [f("[1]", "call_made1"), f("[2]", "call_made2")],
      { toolNames: ["f"] },
    ],
    [
      "for each piece of one chunk, as one chunk each",
      [
        [
          { index: 0, id: "call_1", name: "f", args: "[1]" },
          { index: 1, id: "call_2", name: "g", args: "[2]" },
        ],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "for each piece of one chunk, all at index 0",
      [
        [
          { index: 0, id: "call_1", name: "f", args: "[1]" },
          { index: 0, id: "call_2", name: "g", args: "[2]" },
        ],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "for each piece of one chunk, without any index",
      [
        [
          { id: "call_1", name: "f", args: "[1]" },
          { id: "call_2", name: "g", args: "[2]" },
        ],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "for each piece of one chunk, without index and id",
      [
        [
          { name: "f", args: "[1]" },
          { name: "g", args: "[2]" },
        ],
      ],
      [f("[1]", "call_made1"), g("[2]", "call_made2")],
    ],
    [
      "at indexes that begin at 1",
      [[{ index: 1, id: "call_1", name: "f", args: "[1]" }], [{ index: 2, id: "call_2", name: "g", args: "[2]" }]],
      [f("[1]"), g("[2]")],
    ],
    [
      "at indexes with a gap",
      [
        [{ index: 0, id: "call_1", name: "f", args: "[1]" }],
        [{ index: 5, id: "call_2", name: "g", args: "[2" }],
        [{ index: 5, args: "]" }],
      ],
      [f("[1]"), g("[2]")],
    ],
    [
      "in the order in which they come",
      [[{ index: 1, id: "call_2", name: "g", args: "[2]" }], [{ index: 0, id: "call_1", name: "f", args: "[1]" }]],
      [g("[2]"), f("[1]")],
    ],
    [
      "at another index with the same id (id 0 for all): both have ids of their own",
      [[{ index: 0, id: "0", name: "f", args: "[1]" }], [{ index: 1, id: "0", name: "g", args: "[2]" }]],
      [f("[1]", "0"), g("[2]", "call_made1")],
    ],
  ])("%s", (_name, deltas, calls, shape) => expect(play(deltas, shape)).toEqual({ calls, finish: "tool_calls" }));
});

describe("what calls are made of", () => {
  it.each<[string, readonly (readonly Piece[])[], readonly Built[], Partial<AnswerShape>?]>([
    [
      "a missing id is made once",
      [[{ index: 0, name: "f", args: "[" }], [{ index: 0, args: "1]" }]],
      [f("[1]", "call_made1")],
    ],
    [
      "an empty id is made once",
      [[{ index: 0, id: "", type: "function", name: "f", args: "[" }], [{ index: 0, id: "", args: "1]" }]],
      [f("[1]", "call_made1")],
    ],
    ["an integer id is its digits", [[{ index: 0, id: 7, name: "f", args: "[1]" }]], [f("[1]", "7")]],
    ["type missing", [[{ index: 0, id: "call_1", name: "f", args: "[1]" }]], [f("[1]")]],
    ["type of another word", [[{ index: 0, id: "call_1", type: "tool", name: "f", args: "[1]" }]], [f("[1]")]],
    [
      "arguments before the name",
      [[{ index: 0, id: "call_1", args: "[1" }], [{ index: 0, name: "f" }], [{ index: 0, args: "]" }]],
      [f("[1]")],
    ],
    [
      "arguments before name and id",
      [[{ index: 0, args: "[1" }], [{ index: 0, id: "call_1", name: "f", args: "]" }]],
      [f("[1]")],
    ],
    [
      "the id after the name",
      [[{ index: 0, name: "f" }], [{ index: 0, id: "call_1", args: "[1]" }]],
      [f("[1]", "call_made1")],
    ],
    ["arguments as an object", [[{ index: 0, id: "call_1", name: "f", args: { a: [1] } }]], [f('{"a":[1]}')]],
    ["arguments null", [[{ index: 0, id: "call_1", name: "f", args: null }], [{ index: 0, args: "[1]" }]], [f("[1]")]],
    ["no arguments ever", [[{ index: 0, id: "call_1", name: "f" }]], [f("{}")]],
    ["empty arguments only", [[{ index: 0, id: "call_1", name: "f", args: "" }], [{ index: 0, args: "" }]], [f("{}")]],
    [
      "no arguments for the first of two",
      [[{ index: 0, id: "call_1", name: "f", args: "" }], [{ index: 1, id: "call_2", name: "g", args: "[2]" }]],
      [f("{}"), g("[2]")],
    ],
    [
      "a name in two pieces, by the names that the request offers",
      [
        [{ index: 0, id: "call_1", name: "get_", args: "" }],
        [{ index: 0, name: "time", args: "" }],
        [{ index: 0, args: "[1]" }],
      ],
      [{ id: "call_1", name: "get_time", args: "[1]" }],
      { toolNames: ["get_time", "get_date"] },
    ],
    [
      "a name that begins another one's, whole",
      [[{ index: 0, id: "call_1", name: "get", args: "" }], [{ index: 0, args: "[1]" }]],
      [{ id: "call_1", name: "get", args: "[1]" }],
      { toolNames: ["get", "get_time"] },
    ],
    [
      "a name that begins another one's, without arguments",
      [[{ index: 0, id: "call_1", name: "get", args: "" }]],
      [{ id: "call_1", name: "get", args: "{}" }],
      { toolNames: ["get", "get_time"] },
    ],
    [
      "a name that begins another one's, without arguments, before a second call",
      [[{ index: 0, id: "call_1", name: "get" }], [{ index: 1, id: "call_2", name: "g", args: "[2]" }]],
      [{ id: "call_1", name: "get", args: "{}" }, g("[2]")],
      { toolNames: ["get", "get_time", "g"] },
    ],
    [
      "an unknown name passes",
      [[{ index: 0, id: "call_1", name: "nobody", args: "[1]" }]],
      [{ id: "call_1", name: "nobody", args: "[1]" }],
      { toolNames: ["f"] },
    ],
    [
      "a piece that says nothing opens nothing",
      [[{ index: 0, id: "call_1", name: "f", args: "[1]" }], [{ index: 1 }]],
      [f("[1]")],
    ],
  ])("%s", (_name, deltas, calls, shape) => expect(play(deltas, shape)).toEqual({ calls, finish: "tool_calls" }));

  it("arguments given as an object keep the spelling of their numbers", () => {
    const delta = JSON.stringify(
      chunk({
        role: "assistant",
        tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "@" } }],
      }),
    ).replace('"@"', '{"a":9007199254740993,"b":1.50}');
    const out = streamOf([delta, chunk({}, "tool_calls"), "[DONE]"]);
    const calls = (told(out).slice(0, -1) as { tool_calls?: Told[] }[]).flatMap(({ tool_calls = [] }) => tool_calls);
    expect(calls.map((call) => call.function?.arguments).join("")).toBe('{"a":9007199254740993,"b":1.50}');
  });

  it("a call cut by length keeps its part, and a call without arguments gets none", () => {
    expect(play([[{ index: 0, id: "call_1", name: "f", args: '{"a' }]], {}, "length")).toEqual({
      calls: [f('{"a')],
      finish: "length",
    });
    expect(play([[{ index: 0, id: "call_1", name: "f", args: "" }]], {}, "length")).toEqual({
      calls: [f("")],
      finish: "length",
    });
  });

  it("a whole message that repeats the calls of its deltas opens no second ones", () => {
    const calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: "[1]" } }];
    const out = streamOf([
      chunk(ROLE),
      chunk({ tool_calls: [{ index: 0, ...calls[0] }] }),
      {
        ...chunk({}),
        choices: [
          { index: 0, message: { role: "assistant", content: null, tool_calls: calls }, finish_reason: "tool_calls" },
        ],
      },
      "[DONE]",
    ]);
    expect(told(out)).toEqual([ROLE, { tool_calls: [{ index: 0, ...calls[0] }] }, "tool_calls"]);
  });

  it("a stream whose only event is a whole message with calls", () => {
    const calls = ["f", "g"].map((name) => ({
      id: `call_${name}`,
      type: "function",
      function: { name, arguments: "[1]" },
    }));
    const out = streamOf([
      {
        ...chunk({}),
        choices: [{ index: 0, message: { role: "assistant", content: "", tool_calls: calls }, finish_reason: "stop" }],
      },
      "[DONE]",
    ]);
    const sent = told(out).filter((delta) => typeof delta !== "string" && "tool_calls" in (delta as object)) as {
      tool_calls: Told[];
    }[];
    expect(sent.map(({ tool_calls }) => tool_calls)).toEqual(calls.map((call, index) => [{ index, ...call }]));
    expect(told(out).at(-1)).toBe("tool_calls");
  });

  it("custom tools have an input", () => {
    const out = streamOf([
      chunk(ROLE),
      chunk({ tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sh", input: "" } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: "l" } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: "s" } }] }),
      chunk({}, "tool_calls"),
      "[DONE]",
    ]);
    expect(told(out)).toEqual([
      ROLE,
      { tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "sh", input: "" } }] },
      { tool_calls: [{ index: 0, custom: { input: "l" } }] },
      { tool_calls: [{ index: 0, custom: { input: "s" } }] },
      "tool_calls",
    ]);
  });

  it("tool_calls given as one object, or without the function level", () => {
    for (const value of [
      { id: "call_1", function: { name: "f", arguments: "[1]" } },
      [{ id: "call_1", name: "f", arguments: "[1]" }],
    ]) {
      const out = streamOf([chunk(ROLE), chunk({ tool_calls: value }), chunk({}, "tool_calls"), "[DONE]"]);
      expect(told(out)).toEqual([
        ROLE,
        { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "[1]" } }] },
        "tool_calls",
      ]);
    }
  });

  it("content beside a call leaves before it", () => {
    const out = streamOf([
      chunk(ROLE),
      chunk({
        content: "a",
        tool_calls: [
          { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } },
          { index: 1, id: "d", type: "function", function: { name: "g", arguments: "{}" } },
        ],
      }),
      chunk({}, "tool_calls"),
      "[DONE]",
    ]);
    expect(told(out).slice(1, 2)).toEqual([{ content: "a" }]);
    expect(told(out)).toHaveLength(5);
  });

  it("a legacy function_call has its name once", () => {
    const out = streamOf([
      chunk({ role: "assistant", content: null, function_call: { name: "f", arguments: "" } }),
      chunk({ function_call: { name: "f", arguments: "[1" } }),
      chunk({ function_call: { name: null, arguments: "]" } }),
      chunk({}, "stop"),
      "[DONE]",
    ]);
    expect(told(out)).toEqual([
      { role: "assistant", content: null, function_call: { name: "f", arguments: "" } },
      { function_call: { arguments: "[1" } },
      { function_call: { arguments: "]" } },
      "function_call",
    ]);
  });

  it("a thousand calls pass, one call a chunk; many thousands are refused", () => {
    const call = (index: number): unknown =>
      chunk({ tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "f", arguments: "{}" } }] });
    expect(
      streamOf([chunk(ROLE), ...Array.from({ length: 300 }, (_, i) => call(i)), chunk({}, "tool_calls"), "[DONE]"])
        .done,
    ).toBe(true);
    expect(
      streamOf([chunk(ROLE), ...Array.from({ length: 3000 }, (_, i) => call(i)), chunk({}, "tool_calls"), "[DONE]"])
        .failed,
    ).toBe("upstream_invalid");
  });
});
