import type { Reading, TextCall, ToolFamily, ToolSchemas } from "../family.ts";
import { callOfJson, closed } from "../json-call.ts";
import { pythonCall } from "../python-call.ts";
import type { TextSource } from "../source.ts";

const TAG = "<|python_tag|>";
const FUNCTION = "<function=";
const CODE = "code_interpreter";

/**
 * `<|python_tag|>{"name": "f", "parameters": {}}; {...}`, the tag optional at the start; `<function=f>{}</function>`;
 * `brave_search.call(query="...")`; and the tag with bare code. https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1
 */
export const llama3: ToolFamily = {
  name: "llama3",
  openings: [TAG, FUNCTION],
  bare: (tools) => [
    ["{", '"name"'],
    ["{", '"type"', ":", '"function"'],
    ["{", '"function"', ":"],
    ...[...tools.keys()].map((name) => [`${name}.call(`]),
  ],
  *read(source, opening, tools) {
    if (opening === FUNCTION) return yield* functionTag(source);
    const before = yield* source.space();
    if ((yield* source.peek()) === "{") return yield* jsonCalls(source, before, opening === TAG && tools.has(CODE));
    return yield* spelledCall(source, before, opening, tools);
  },
};

function* functionTag(source: TextSource): Reading<number | undefined> {
  const name = yield* source.word();
  if ((yield* source.literal(">")) === undefined) return undefined;
  yield* source.space();
  const args = yield* source.object();
  if (args === undefined) return undefined;
  const end = yield* closed(source, ["</function>"]);
  if (end !== undefined) yield { name, args };
  return end;
}

function* jsonCalls(source: TextSource, before: string, mayBeCode: boolean): Reading<number | undefined> {
  for (let first = true; ; first = false) {
    const text = yield* source.object();
    const call = text === undefined ? undefined : callOfJson(text);
    if (call === undefined)
      return first && mayBeCode && text !== undefined ? yield* code(source, before + text) : undefined;
    yield call;
    const end = source.position;
    yield* source.space();
    yield* source.literal(";", ",");
    yield* source.space();
    yield* source.literal(TAG);
    yield* source.space();
    if ((yield* source.peek()) !== "{") return end;
  }
}

function* spelledCall(
  source: TextSource,
  before: string,
  opening: string,
  tools: ToolSchemas,
): Reading<number | undefined> {
  const mayBeCode = opening === TAG && tools.has(CODE);
  const word = yield* source.word();
  const name = word.replace(/\.call$/, "");
  const mayBeCall = name !== word && tools.has(name);
  if (!mayBeCall) return mayBeCode ? yield* code(source, before + word) : undefined;
  const brackets = yield* source.brackets();
  const call: TextCall | undefined = brackets === undefined ? undefined : pythonCall(name, brackets);
  if (call === undefined)
    return mayBeCode && brackets !== undefined ? yield* code(source, before + word + brackets) : undefined;
  yield call;
  return source.position;
}

/** Code has no end but that of the text. Code that was cut short is not to be run. */
function* code(source: TextSource, begun: string): Reading<number | undefined> {
  const text = begun + (yield* source.rest());
  if (source.cut || text.trim() === "") return undefined;
  yield { name: CODE, args: JSON.stringify({ code: text }) };
  return source.position;
}
