import type { Reading, TextCall, ToolFamily, ToolSchemas } from "../family.ts";
import type { TextSource } from "../source.ts";
import { objectText, parameterSchema, typedValue } from "../typed-value.ts";

const CLOSING = "</tool_call>";

/** Reads a name and pairs of key and value, up to and with the closing tag. */
function* keyedCall(source: TextSource, tools: ToolSchemas): Reading<TextCall | undefined> {
  yield* source.space();
  const name = yield* source.word();
  if (name === "") return undefined;
  yield* source.space();
  yield* source.literal("<tool_sep>");
  const schema = tools.get(name);
  const members: [string, string][] = [];
  for (;;) {
    yield* source.space();
    const tag = yield* source.literal("<arg_key>", CLOSING);
    if (tag === CLOSING || (source.done && !source.cut)) return { name, args: objectText(members) };
    if (tag === undefined) return undefined;
    const key = (yield* source.until("</arg_key>")).text.trim();
    yield* source.space();
    if ((yield* source.literal("<arg_value>")) === undefined) return undefined;
    const value = yield* source.until("</arg_value>");
    if (value.tag === undefined) return undefined;
    members.push([key, typedValue(value.text, parameterSchema(schema, key))]);
  }
}

/** `<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>`, once a call. */
export const glm45: ToolFamily = {
  name: "glm45",
  openings: ["<tool_call>"],
  *read(source, _opening, tools) {
    const call = yield* keyedCall(source, tools);
    if (call === undefined) return undefined;
    yield call;
    return source.position;
  },
};

/** The same with `<tool_sep>` behind the name, all in `<tool_calls>`. */
export const hyV3: ToolFamily = {
  name: "hy-v3",
  openings: ["<tool_calls>"],
  *read(source, _opening, tools) {
    for (;;) {
      yield* source.space();
      if ((yield* source.literal("<tool_call>")) === undefined) return undefined;
      const call = yield* keyedCall(source, tools);
      if (call === undefined) return undefined;
      yield call;
      yield* source.space();
      if ((yield* source.literal("</tool_calls>")) !== undefined || source.done) return source.position;
    }
  },
};
