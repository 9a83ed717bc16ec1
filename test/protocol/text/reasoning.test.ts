import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerOf, everySplit, sameAnswer } from "./passes.ts";

const FORMS = [
  ["think", "<think>", "</think>"],
  ["granite", "<think>", "</think>"],
  ["hunyuan", "<think>", "</think>"],
  ["ernie", "<think>", "</think>"],
  ["seed", "<seed:think>", "</seed:think>"],
  ["mistral", "[THINK]", "[/THINK]"],
  ["cohere", "<|START_THINKING|>", "<|END_THINKING|>"],
  ["gemma4", "<|channel>thought\n", "<channel|>"],
  ["granite", "Here is my thought process:", "Here is my response:"],
  ["harmony", "<|channel|>analysis<|message|>", "<|end|>"],
] as const;

const said = (reasoning: string, content: string): object => ({ reasoning, content, calls: [], finish: "stop" });

describe.each(FORMS)("thoughts of %s between %s and %s", (reasoningFamily, open, close) => {
  const family = { reasoningFamily };

  it("are told from the answer, whole and at every split", () => {
    expect(sameAnswer(`${open}x < y${close}z < a`, family)).toEqual(said("x < y", "z < a"));
  });

  it("keep their newlines, as vLLM's do", () => {
    const [first, answer] = open.endsWith("\n") ? ["hm\n", "\n\nHi\n"] : ["\nhm\n", "\n\nHi\n"];
    expect(sameAnswer(`${open}${first}${close}${answer}`, family)).toEqual(said(first, answer));
  });

  it("stay thoughts if they never close", () => {
    expect(sameAnswer(`${open}all of it`, family)).toEqual(said("all of it", ""));
    const begun = close.slice(0, -1);
    if (!/<\|end\|$|^<channel/.test(begun))
      expect(sameAnswer(`${open}x${begun}`, family)).toEqual(said(`x${begun}`, ""));
  });

  it("may be empty", () => {
    expect(sameAnswer(`${open}${close}z`, family)).toEqual(said("", "z"));
    expect(sameAnswer(`\n${open}${close}`, family)).toEqual(said("", ""));
  });

  it("may come in several blocks", () => {
    expect(sameAnswer(`${open}x${close}\n${open}y${close}z`, family)).toEqual(said("xy", "z"));
  });

  it("are not looked for inside the answer", () => {
    const text = `a ${open}x${open}y`;
    expect(sameAnswer(text, family)).toEqual(said("", text));
    expect(sameAnswer(`${open}x${close}z ${open}y`, family)).toEqual(said("x", `z ${open}y`));
  });

  it("leave text without tags alone", () => {
    for (const text of ["plain", " \n plain", "<thin", "<", "", "  "])
      expect(sameAnswer(text, family)).toEqual(said("", text));
  });

  it("are found without knowing the family", () => {
    const auto = { reasoningFamily: "auto", model: "my-model" };
    if (open.startsWith("Here")) expect(sameAnswer(`${open}x${close}z`, auto).reasoning).toBe("");
    else expect(sameAnswer(`${open}x${close}z`, auto)).toEqual(said("x", "z"));
  });
});

describe("a thought that the prompt has opened", () => {
  const opened = { reasoningFamily: "think-open" };

  it("ends at the closing tag", () => {
    expect(sameAnswer("plan</think>answer", opened)).toEqual(said("plan", "answer"));
    expect(sameAnswer("</think>answer", opened)).toEqual(said("", "answer"));
    expect(sameAnswer("all of it", opened)).toEqual(said("all of it", ""));
  });

  it("may be opened once more by the model", () => {
    expect(sameAnswer("\n<think>plan</think>answer", opened)).toEqual(said("plan", "answer"));
    expect(sameAnswer("<think/>answer", opened)).toEqual(said("", "answer"));
  });

  it("is known by the model's name, unless the request says that it is not", () => {
    const model = "deepseek-ai/DeepSeek-R1-0528";
    for (const reasoningFamily of ["auto", "think"]) {
      expect(sameAnswer("x</think>y", { reasoningFamily, model })).toEqual(said("x", "y"));
      expect(sameAnswer("y", { reasoningFamily, model, opened: false })).toEqual(said("", "y"));
    }
    expect(sameAnswer("x</think>y", { reasoningFamily: "think", opened: true })).toEqual(said("x", "y"));
  });
});

describe("a closing tag alone", () => {
  const think = { reasoningFamily: "think" };

  it("says that all before it was thought, as long as nothing of that has left", () => {
    expect(answerOf(["plan</think>answer"], think)).toEqual(said("plan", "answer"));
    expect(answerOf(["plan</th", "ink>answer"], think)).toEqual(said("", "plan</think>answer"));
    expect(answerOf(["<think>x</think>y</think>z"], think)).toEqual(said("x", "y</think>z"));
  });
});

describe("tags that are no thoughts", () => {
  it("are dropped when they are empty", () => {
    for (const tag of ["<think/>", "<think />"])
      expect(sameAnswer(`${tag}Visible`, { reasoningFamily: "think" })).toEqual(said("", "Visible"));
  });

  it("are dropped around the answer", () => {
    expect(sameAnswer("<think>\nx</think>\n<answer>\nz</answer>\n", { reasoningFamily: "hunyuan" })).toEqual(
      said("\nx", "\nz\n"),
    );
    expect(
      sameAnswer("<|START_THINKING|>x<|END_THINKING|><|START_RESPONSE|>z<|END_RESPONSE|>", {
        reasoningFamily: "cohere",
      }),
    ).toEqual(said("x", "z"));
    expect(
      sameAnswer("<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>z<|return|>", {
        reasoningFamily: "auto",
        model: "openai/gpt-oss-20b",
      }),
    ).toEqual(said("x", "z"));
  });
});

describe("thoughts and calls", () => {
  const tools = [{ name: "f" }];
  const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
  const calls = [{ name: "f", args: {} }];

  it("follow each other", () => {
    const answer = sameAnswer(`<think>x ${call}</think>\n\n${call}`, {
      reasoningFamily: "think",
      toolFamily: "hermes",
      tools,
    });
    expect(answer).toEqual({ reasoning: `x ${call}`, content: "", calls, finish: "tool_calls" });
  });

  it("may run into each other where a model is known for it", () => {
    const text = "plan\n<tool_call><function=f></function></tool_call>";
    const options = { reasoningFamily: "auto", toolFamily: "auto", tools, model: "Qwen/Qwen3.5-35B-A3B" };
    expect(sameAnswer(text, options)).toEqual({ reasoning: "plan\n", content: "", calls, finish: "tool_calls" });
    expect(sameAnswer(text, { ...options, tools: [] })).toEqual(said(text, ""));
  });

  it("come in channels", () => {
    const text =
      "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>";
    const options = { reasoningFamily: "auto", toolFamily: "auto", tools, model: "gpt-oss-120b" };
    expect(sameAnswer(text, options)).toEqual({ reasoning: "x", content: "", calls, finish: "tool_calls" });
  });

  it("leave a bare call at the start of the answer", () => {
    const answer = sameAnswer('<think>x</think>\n{"name": "f", "parameters": {}}', {
      reasoningFamily: "think",
      toolFamily: "llama3",
      tools,
    });
    expect(answer).toEqual({ reasoning: "x", content: "", calls, finish: "tool_calls" });
  });
});

it("says the same of any text, whole and streamed, and loses no letter", () => {
  const words = fc.array(fc.oneof(fc.constantFrom("open", "close", "empty", "\n"), fc.string({ maxLength: 4 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(words, fc.constantFrom(...FORMS), fc.boolean(), (list, [reasoningFamily, open, close], opened) => {
      const tags: Record<string, string> = { open, close, empty: `${open.slice(0, -1)}/>` };
      const text = list.map((word) => tags[word] ?? word).join("");
      // A closing tag alone is another matter: what has left cannot be called back.
      if (!opened && text.includes(close) && !text.trimStart().startsWith(open)) return;
      const options = { reasoningFamily, opened };
      const answer = answerOf([text], options);
      for (const pieces of everySplit(text).slice(1)) expect(answerOf(pieces, options)).toEqual(answer);
      if (!list.some((word) => word in tags)) expect(answer.reasoning + answer.content).toBe(text);
    }),
    { numRuns: 300 },
  );
});
