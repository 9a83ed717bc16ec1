import type { Reading, ToolFamily, ToolSchemas } from "../family.ts";
import type { TextSource } from "../source.ts";
import { objectText, parameterSchema, typedValue } from "../typed-value.ts";

const FUNCTION = "<function=";

/** One newline on each side belongs to the form, not to the value. */
const unframed = (text: string): string => text.replace(/^\n/, "").replace(/\n$/, "");

function* calls(source: TextSource, opening: string, tools: ToolSchemas): Reading<number | undefined> {
  const closing = opening.replace("<", "</");
  if (opening !== FUNCTION) {
    yield* source.space();
    if ((yield* source.literal(FUNCTION)) === undefined) return undefined;
  }
  for (;;) {
    const name = yield* source.word();
    if ((yield* source.literal(">")) === undefined) return undefined;
    const schema = tools.get(name);
    const members: [string, string][] = [];
    let tag: string | undefined;
    for (;;) {
      yield* source.space();
      tag = yield* source.literal("<parameter=", "</function>", closing);
      if (tag !== "<parameter=") break;
      const key = (yield* source.until(">")).text;
      const value = yield* source.until("</parameter>");
      if (value.tag === undefined) return undefined;
      members.push([key, typedValue(unframed(value.text), parameterSchema(schema, key))]);
    }
    if (tag === undefined && (!source.done || source.cut)) return undefined;
    yield { name, args: objectText(members) };
    const end = source.position;
    if (tag === closing || opening === FUNCTION) return end;
    yield* source.space();
    const next = yield* source.literal(FUNCTION, closing);
    if (next !== FUNCTION) return next === closing || source.done ? source.position : undefined;
  }
}

/** `<tool_call><function=f><parameter=a>1</parameter></function></tool_call>`; the outer tag is at times forgotten. */
export const qwen3Coder: ToolFamily = { name: "qwen3-coder", openings: ["<tool_call>", FUNCTION], read: calls };

export const seedOss: ToolFamily = { name: "seed-oss", openings: ["<seed:tool_call>"], read: calls };
