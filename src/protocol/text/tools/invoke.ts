import type { Reading, TextCall, ToolFamily, ToolSchemas } from "../family.ts";
import type { TextSource } from "../source.ts";
import { objectText, parameterSchema, typedValue } from "../typed-value.ts";

export interface InvokeTags {
  /** Of a call: `<element name="f">`. */
  readonly element: string;
  /** Of a parameter: `<parameter name="a">`. */
  readonly parameter: string;
  /** The tag that ends the block; undefined: the first call does. */
  readonly closing: string | undefined;
}

/** Reads calls that are XML elements, from before the first one up to the closing tag. */
export function* invokes(source: TextSource, tools: ToolSchemas, tags: InvokeTags): Reading<number | undefined> {
  const opening = `<${tags.element} name="`;
  yield* source.space();
  if ((yield* source.literal(opening)) === undefined) return undefined;
  for (;;) {
    const call = yield* invoke(source, tools, tags);
    if (call === undefined) return undefined;
    yield call;
    const end = source.position;
    if (tags.closing === undefined) return end;
    yield* source.space();
    const next = yield* source.literal(opening, tags.closing);
    if (next !== opening) return next !== undefined || source.done ? source.position : undefined;
  }
}

/** Reads one call from behind the quote that opens its name. */
export function* invoke(source: TextSource, tools: ToolSchemas, tags: InvokeTags): Reading<TextCall | undefined> {
  const name = yield* source.word();
  if ((yield* source.literal('">')) === undefined) return undefined;
  const schema = tools.get(name);
  const members: [string, string][] = [];
  const parameter = `<${tags.parameter} name="`;
  const closing = `</${tags.element}>`;
  for (;;) {
    yield* source.space();
    const tag = yield* source.literal(parameter, closing);
    if (tag === closing) return { name, args: objectText(members) };
    if (tag === undefined) return undefined;
    const key = (yield* source.until('"')).text;
    const attributes = (yield* source.until(">")).text;
    const value = yield* source.until(`</${tags.parameter}>`);
    if (value.tag === undefined) return undefined;
    members.push([key, valueText(value.text, attributes, parameterSchema(schema, key))]);
  }
}

function valueText(text: string, attributes: string, schema: unknown): string {
  const value = text.replace(/^\n/, "").replace(/\n$/, "");
  if (attributes.includes('string="true"')) return JSON.stringify(value);
  return typedValue(value, attributes.includes('string="false"') ? undefined : schema);
}

/** `<minimax:tool_call><invoke name="f"><parameter name="a">1</parameter></invoke></minimax:tool_call>` */
export const minimaxM2: ToolFamily = {
  name: "minimax-m2",
  openings: ["<minimax:tool_call>"],
  read: (source, _opening, tools) =>
    invokes(source, tools, { element: "invoke", parameter: "parameter", closing: "</minimax:tool_call>" }),
};

const MINICPM = { element: "function", parameter: "param", closing: undefined };

/** `<function name="f"><param name="a">1</param></function>` */
export const minicpm5: ToolFamily = {
  name: "minicpm5",
  openings: ['<function name="'],
  *read(source, _opening, tools) {
    const call = yield* invoke(source, tools, MINICPM);
    if (call === undefined) return undefined;
    yield call;
    return source.position;
  },
};
