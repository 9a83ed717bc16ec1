import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTextPass } from "../../../src/protocol/text/pass.ts";
import { TOOL_FAMILY_NAMES, toolFamilyOf } from "../../../src/protocol/text/tools/catalog.ts";
import { FAMILY_ROWS } from "./families.ts";
import { answerOf, everySplit, sameAnswer } from "./passes.ts";

const tools = [
  { name: "f", parameters: { type: "object", properties: { a: { type: "integer" }, s: { type: "string" } } } },
  { name: "g" },
  { name: "brave_search" },
  { name: "code_interpreter" },
];
const hermes = { toolFamily: "hermes", tools };
const llama = { toolFamily: "llama3", tools };
const auto = { toolFamily: "auto", tools, model: "my-model" };
const one = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>';
const call = { name: "f", args: { a: 1 } };
const text = (content: string): object => ({ content, reasoning: "", calls: [], finish: "stop" });

describe("text around calls", () => {
  it("stays where it was, but for white space that stands alone", () => {
    const answer = sameAnswer(`\n Hm. \n${one}\n\n${one} and \n${one}\n`, hermes);
    expect(answer).toEqual({
      content: "\n Hm. \n and \n",
      reasoning: "",
      calls: [call, call, call],
      finish: "tool_calls",
    });
  });

  it("leaves with the spelling of its arguments", () => {
    const pass = createTextPass({
      toolFamily: "hermes",
      reasoningFamily: "none",
      tools,
      toolChoice: "auto",
      parallel: true,
      model: "",
    });
    const spelled = '{"a": 9007199254740993,  "b": 1.50, "\\u0061": {"x": [1 , 2]}}';
    expect(pass.take({ content: `<tool_call>{"arguments": ${spelled}, "name": "f"}</tool_call>` })).toEqual([
      { tool_calls: [{ index: 0, type: "function", function: { name: "f", arguments: spelled } }] },
    ]);
  });

  it("is white space alone and stays", () => {
    expect(sameAnswer(" \n\t ", hermes)).toEqual(text(" \n\t "));
  });

  it("is found behind what looked like a call", () => {
    for (const before of ["<tool_call>", "<tool_call>{ no", '<tool_call>{"name": "f", "arguments": [1]}</tool_call>']) {
      const { content, calls } = sameAnswer(`${before}<tool_call>\n${one}`, hermes);
      expect([content, calls]).toEqual([`${before}<tool_call>\n`, [call]]);
    }
  });

  it("completes what is unambiguous at the end, and only that", () => {
    expect(sameAnswer(one.slice(0, -12), hermes).calls).toEqual([call]);
    expect(sameAnswer(one.slice(0, -5), hermes).content).toBe(one.slice(0, -5));
    expect(sameAnswer(one.slice(0, -13), hermes)).toEqual(text(one.slice(0, -13)));
  });

  it("keeps a finish that is no stop", () => {
    expect(sameAnswer(one, hermes, "length").finish).toBe("length");
    expect(sameAnswer(one, hermes, "content_filter").finish).toBe("content_filter");
  });

  it("reads arguments that are missing, null, or JSON in a string", () => {
    for (const args of ['"arguments": null', '"arguments": {}', '"arguments": ""', '"arguments": "{}"', '"x": 1']) {
      expect(sameAnswer(`<tool_call>{"name": "f", ${args}}</tool_call>`, hermes).calls).toEqual([
        { name: "f", args: {} },
      ]);
    }
  });
});

describe("Llama's forms", () => {
  it("call the built-in tools the request has", () => {
    expect(sameAnswer('<|python_tag|>brave_search.call(query="a (b) \\"c\\"")', llama).calls).toEqual([
      { name: "brave_search", args: { query: 'a (b) "c"' } },
    ]);
    expect(sameAnswer('brave_search.call(query="x")', llama).calls).toHaveLength(1);
    expect(sameAnswer('brave_search.call(query="x")', { ...llama, tools: [{ name: "f" }] }).calls).toEqual([]);
  });

  it("call the interpreter with bare code, up to the end of the text", () => {
    const code = 'import math\nprint({"a": math.pi})\n';
    for (const program of [code, `{"a": 1}["a"]`, "brave_search.call(1)", "f(x)"]) {
      expect(sameAnswer(`<|python_tag|>${program}<|eom_id|>`, llama).calls).toEqual([
        { name: "code_interpreter", args: { code: program } },
      ]);
    }
    const cut = `<|python_tag|>${code}`;
    expect(sameAnswer(cut, llama, "length").content).toBe(cut);
    expect(sameAnswer(cut, { ...llama, tools: [{ name: "f" }] })).toEqual(text(cut));
  });

  it("leave JSON that is an answer alone", () => {
    for (const answer of ['{"name": "Bob", "age": 3}', '{"type": "Point"}', '{"a": {"name": "f"}}', '["f"]', "[f]"]) {
      expect(sameAnswer(answer, llama)).toEqual(text(answer));
      expect(sameAnswer(answer, auto)).toEqual(text(answer));
    }
  });
});

describe("a choice of tool", () => {
  const named = { ...hermes, toolChoice: { name: "f" } };

  it("makes bare arguments a call of the named tool, which ends with stop as OpenAI's does", () => {
    expect(sameAnswer(' {"a": 1}\n', named)).toEqual({ content: "", reasoning: "", calls: [call], finish: "stop" });
    expect(sameAnswer('{"name": "f", "parameters": {"a": 1}}', named).calls).toEqual([call]);
    expect(sameAnswer('{"name": "x"}', named).calls).toEqual([{ name: "f", args: { name: "x" } }]);
    expect(sameAnswer(one, named).calls).toEqual([call]);
    expect(sameAnswer('{"a": 1} or so', named)).toEqual(text('{"a": 1} or so'));
    const other = one.replace('"f"', '"g"');
    expect(sameAnswer(other, named)).toEqual(text(other));
  });

  it("makes the list of a required choice calls", () => {
    const required = { ...hermes, toolChoice: "required" as const };
    expect(
      sameAnswer('[{"name": "f", "parameters": {"a": 1}}, {"name": "g", "parameters": {}}]', required).calls,
    ).toEqual([call, { name: "g", args: {} }]);
  });
});

describe("values without types", () => {
  const write = (values: Record<string, string>): string =>
    `<tool_call><function=f>${Object.entries(values)
      .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>`)
      .join("")}</function></tool_call>`;
  const typed = (schema: object, value: string): unknown => {
    const parameters = { type: "object", properties: { v: schema } };
    const [first] = sameAnswer(write({ v: value }), {
      toolFamily: "qwen3-coder",
      tools: [{ name: "f", parameters }],
    }).calls;
    return (first?.args as { v: unknown } | undefined)?.v;
  };

  it.each([
    [{ type: "string" }, "1", "1"],
    [{ type: "string" }, " x\n ", " x\n "],
    [{ type: "integer" }, "1", 1],
    [{ type: "integer" }, "one", "one"],
    [{ type: "number" }, "-1.5e3", -1500],
    [{ type: "boolean" }, "True", true],
    [{ type: ["string", "null"] }, "null", null],
    [{ type: ["string", "integer"] }, "7", 7],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "None", null],
    [{ enum: ["1", "2"] }, "1", "1"],
    [{ type: "array" }, '["<a>", 1]', ["<a>", 1]],
    [{ type: "object" }, '{"a": {"b": "}"}}', { a: { b: "}" } }],
    [{ type: "object" }, "{a}", "{a}"],
    [{}, "12", 12],
    [{}, "word", "word"],
  ])("get the type of the schema: %j %j", (schema, value, expected) => {
    expect(typed(schema, value)).toEqual(expected);
  });

  it("get the type they look like where the schema is silent", () => {
    const { calls } = sameAnswer(write({ x: "1", y: "01", z: "{}" }), {
      toolFamily: "qwen3-coder",
      tools: [{ name: "f" }],
    });
    expect(calls).toEqual([{ name: "f", args: { x: 1, y: "01", z: {} } }]);
  });
});

describe("Python literals", () => {
  const literal = (spelled: string): unknown => {
    const [first] = sameAnswer(`[f(v=${spelled})]`, { toolFamily: "pythonic", tools }).calls;
    return first === undefined ? "no call" : (first.args as { v: unknown }).v;
  };

  it.each([
    ["1", 1],
    ["-1.50", -1.5],
    [".5", 0.5],
    ["1_000", 1000],
    ["1e3", 1000],
    ["True", true],
    ["None", null],
    ["'it\\'s \"x\" \\n \\u00e9 \\x41 \\q'", 'it\'s "x" \n é A \\q'],
    ['"""a "" b"""', "a  b"],
    ["r'\\d'", "\\d"],
    ["'a' 'b'", "ab"],
    ["[1, [2, (3, 4)], ]", [1, [2, [3, 4]]]],
    ["{'a': {'b': [None, False]}, 1: 'x'}", { a: { b: [null, false] }, 1: "x" }],
    ["{}", {}],
    ["name", "no call"],
    ["f()", "no call"],
    ["1 + 1", "no call"],
    [`${"[".repeat(100)}${"]".repeat(100)}`, "no call"],
  ])("are JSON: %s", (spelled, expected) => {
    expect(literal(spelled)).toEqual(expected);
  });
});

const options = [...new Set(TOOL_FAMILY_NAMES.map((name) => toolFamilyOf(name)?.name ?? ""))].map((toolFamily) => ({
  toolFamily,
  tools,
}));

describe("any text", () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom(..."ab{}[]<>|/\"'=(),: \n_t😀"), maxLength: 12 }), {
    maxLength: 12,
  });

  it("without tags is unchanged, and no more of it waits than a tag is long", () => {
    fc.assert(
      fc.property(pieces, fc.constantFrom(...options, auto), (parts, chosen) => {
        const pass = createTextPass({
          reasoningFamily: "none",
          toolChoice: "auto",
          parallel: true,
          model: "",
          ...chosen,
        });
        let said = 0;
        let out = "";
        for (const content of parts) {
          for (const delta of pass.take({ content })) out += delta["content"] as string;
          said += content.length;
          const leading = /^\s*/.exec(parts.join(""))?.[0].length ?? 0;
          expect(said - out.length).toBeLessThan(48 + leading);
        }
        for (const delta of pass.end("stop").deltas) out += delta["content"] as string;
        expect(out).toBe(parts.join(""));
      }),
    );
  });

  const fragments = FAMILY_ROWS.flatMap((row) => {
    const good = row.write([{ name: "f", args: { a: 1, s: "}\"'<" } }]);
    const tags = good.match(/<[^>]*>|\[[A-Z_]+\]/g) ?? [];
    return [good, row.broken, row.write([{ name: "unknown", args: {} }]), ...tags];
  });
  const mixed = fc.array(
    fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 5 }), fc.constantFrom("\n", " ", "{", "f(")),
    {
      maxLength: 8,
    },
  );

  it("says the same whole and streamed, and loses nothing without a call", () => {
    fc.assert(
      fc.property(mixed, fc.constantFrom(...options, auto), fc.infiniteStream(fc.nat(9)), (parts, chosen, sizes) => {
        const whole = parts.join("");
        const answer = answerOf([whole], chosen);
        const cuts: string[] = [];
        for (let at = 0; at < whole.length;) {
          const size = 1 + (sizes.next().value as number);
          cuts.push(whole.slice(at, at + size));
          at += size;
        }
        expect(answerOf(cuts, chosen)).toEqual(answer);
        expect(answerOf(whole.split(""), chosen)).toEqual(answer);
        const kept = whole.replace(/(?:<\|call\|>\s*)+$/, "");
        if (answer.calls.length === 0 && !/<\|call\|>/.test(whole)) expect(answer.content).toBe(kept);
      }),
      { numRuns: 400 },
    );
  });
});

describe("much text", () => {
  const long = "x".repeat(400_000);

  it("is read once, however small its pieces", () => {
    const block = `<tool_call>{"name": "f", "arguments": {"s": "${"{}".repeat(200_000)}"}}</tool_call>`;
    expect(answerOf(block.split(""), hermes).calls).toHaveLength(1);
    const coder = `<tool_call><function=f><parameter=s>${"</x>".repeat(100_000)}</parameter></function></tool_call>`;
    expect(answerOf(coder.split(""), auto).calls).toHaveLength(1);
  });

  it("that begins like a call leaves as text when it grows too long", () => {
    const block = `<tool_call>{"name": "f", "arguments": {"s": "${long}${long}${long}"}}</tool_call>`;
    const chunks = block.match(/[^]{1,4096}/g) ?? [];
    for (const split of [[block], chunks]) expect(answerOf(split, hermes)).toEqual(text(block));
    const pass = createTextPass({
      toolFamily: "hermes",
      reasoningFamily: "none",
      tools,
      toolChoice: "auto",
      parallel: true,
      model: "",
    });
    const before = chunks.slice(0, -2).flatMap((content) => pass.take({ content }));
    expect(before.length).toBeGreaterThan(0);
  });

  it("of beginnings that come to nothing is not read for ever", () => {
    const block = '<tool_call>{"a":"'.repeat(60_000);
    for (const split of [[block], block.match(/[^]{1,999}/g) ?? []])
      expect(answerOf(split, hermes)).toEqual(text(block));
    const many = "<tool_call>".repeat(100_000);
    expect(answerOf([many], auto)).toEqual(text(many));
  });
});

it("splits are every split", () => {
  expect(everySplit("abc")).toEqual([["abc"], ["a", "b", "c"], ["a", "bc"], ["ab", "c"]]);
});
