import { describe, expect, it } from "vitest";
import { TOOL_FAMILY_NAMES, toolFamilyOf } from "../../../src/protocol/text/tools/catalog.ts";
import { FAMILY_ROWS, type SpelledCall } from "./families.ts";
import { answerOf, sameAnswer } from "./passes.ts";

const tools = [
  {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer" },
        exact: { type: "boolean" },
        where: { type: "object" },
        tags: { type: "array", items: { type: "string" } },
        zip: { type: ["string", "null"] },
      },
    },
  },
  { name: "now", parameters: { type: "object", properties: {} } },
];
const weather: SpelledCall = { name: "get_weather", args: { city: "Oslo", days: 2 } };
const now: SpelledCall = { name: "now", args: {} };
const nested: SpelledCall = {
  name: "get_weather",
  args: {
    city: 'a "quoted" {brace} [bracket] it\'s \\ }) end',
    exact: true,
    where: { deep: { list: [1, -2.5, "}]"], none: null, on: false } },
    tags: ["{", "x, y", "é 🌍"],
    zip: "0123",
  },
};

describe.each(FAMILY_ROWS.map((row) => ({ ...row, example: row.write([weather]) })))(
  "the text calls of $family: $example",
  (row) => {
    const options = { toolFamily: row.family, tools };
    const id = (i: number): object => (row.ids === undefined ? {} : { id: row.ids[i] });

    it("are found, whole and at every split", () => {
      const answer = sameAnswer(row.write([weather]), options);
      expect(answer).toEqual({ content: "", reasoning: "", calls: [{ ...weather, ...id(0) }], finish: "tool_calls" });
    });

    it("are found twice", () => {
      const answer = sameAnswer(row.write([weather, now]), options);
      expect(answer).toEqual({
        content: "",
        reasoning: "",
        calls: [
          { ...weather, ...id(0) },
          { ...now, ...id(1) },
        ],
        finish: "tool_calls",
      });
    });

    it("are found with braces and quotes in strings", () => {
      const answer = sameAnswer(row.write([nested]), options);
      expect(answer.calls).toEqual([{ ...nested, ...id(0) }]);
      expect(answer.content).toBe("");
    });

    it.skipIf(row.onlyAtStart)("are found behind text", () => {
      const answer = sameAnswer(`Let me look < there.\n${row.write([weather])}`, options);
      expect(answer.content).toBe("Let me look < there.\n");
      expect(answer.calls).toEqual([{ ...weather, ...id(0) }]);
    });

    it("are found before text", () => {
      const answer = sameAnswer(`${row.write([weather])}\nDone. {"name": 1}`, options);
      expect(answer.content).toBe('\nDone. {"name": 1}');
      expect(answer.calls).toEqual([{ ...weather, ...id(0) }]);
    });

    it("are found without knowing the family, if the text shows it", () => {
      const text = row.write([weather, now]);
      const auto = { toolFamily: "auto", tools, model: "my-model" };
      const { calls } = answerOf([text], auto);
      expect(answerOf(text.split(""), auto).calls).toEqual(calls);
      // A fence around JSON is too ordinary to be taken for a call.
      const expected = row.family === "xlam" ? [] : [weather, now];
      expect(calls.map(({ name, args }) => ({ name, args }))).toEqual(expected);
    });

    it("stay text if the tool is unknown", () => {
      const text = `${row.write([{ ...weather, name: "rm_rf" }])}  \n`;
      const content = text.replace(/<\|call\|>\s*$/, "");
      expect(sameAnswer(text, options)).toEqual({ content, reasoning: "", calls: [], finish: "stop" });
    });

    it("stay text if the arguments never become JSON", () => {
      for (const text of [row.broken, `\n${row.broken} \n`, `${row.broken}\nAnd more.`]) {
        expect(sameAnswer(text, options)).toEqual({ content: text, reasoning: "", calls: [], finish: "stop" });
      }
    });

    it("stay text, with their finish, if they are cut short in their arguments", () => {
      const text = row.write([weather]);
      const cut = text.slice(0, text.indexOf("Oslo") + 2);
      expect(sameAnswer(cut, options, "length")).toEqual({ content: cut, reasoning: "", calls: [], finish: "length" });
    });

    it("lose nothing wherever they are cut short", () => {
      const text = row.write([weather]);
      for (let end = 1; end < text.length; end++) {
        const cut = text.slice(0, end);
        const whole = answerOf([cut], options, "length");
        expect(answerOf(cut.split(""), options, "length")).toEqual(whole);
        expect(whole.calls.length === 1 || whole.content === cut).toBe(true);
      }
    });

    it("are left alone without tools and with tool_choice none", () => {
      const text = row.write([weather]);
      expect(sameAnswer(text, { ...options, tools: [] }).content).toBe(text.replace(/<\|call\|>$/, ""));
      expect(sameAnswer(text, { ...options, toolChoice: "none" }).calls).toEqual([]);
    });

    it("are one where parallel calls are forbidden", () => {
      const answer = sameAnswer(row.write([weather, now]), { ...options, parallel: false });
      expect(answer.calls).toHaveLength(1);
      expect(answer.content).toBe("");
    });
  },
);

describe("the catalog of families", () => {
  it("has a row of tests for each family", () => {
    const tested = new Set(FAMILY_ROWS.map(({ family }) => toolFamilyOf(family)));
    expect(TOOL_FAMILY_NAMES.filter((name) => !tested.has(toolFamilyOf(name)))).toEqual([]);
  });

  it("knows the names of vLLM's parsers", () => {
    const parsers =
      "hermes llama3_json llama4_json pythonic llama4_pythonic olmo3 lfm2 mistral qwen3_coder qwen3_xml mimo step3p5 seed_oss glm45 glm47 poolside_v1 hy_v3 deepseek_v3 deepseek_v31 deepseek_v32 kimi_k2 minimax_m2 minimax jamba hunyuan_a13b granite granite-20b-fc granite4 ernie45 internlm phi4_mini_json step3 longcat cohere_command3 gemma4 functiongemma apertus gigachat3 minicpm5 xlam openai";
    expect(parsers.split(" ").filter((name) => toolFamilyOf(name) === undefined)).toEqual([]);
  });
});
