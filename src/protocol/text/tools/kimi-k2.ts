import type { ToolFamily } from "../family.ts";

const CALL = "<|tool_call_begin|>";
const CALL_END = "<|tool_call_end|>";
const SECTION = "<|tool_calls_section_begin|>";
const SECTION_END = "<|tool_calls_section_end|>";

/** `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>` in a section; the word with the number is the id. */
export const kimiK2: ToolFamily = {
  name: "kimi-k2",
  openings: [SECTION, CALL],
  *read(source, opening) {
    yield* source.space();
    if (opening === SECTION && (yield* source.literal(CALL)) === undefined) return undefined;
    for (;;) {
      yield* source.space();
      const id = yield* source.word();
      yield* source.space();
      if ((yield* source.literal("<|tool_call_argument_begin|>")) === undefined) return undefined;
      yield* source.space();
      const args = yield* source.object();
      if (args === undefined) return undefined;
      yield* source.space();
      if ((yield* source.literal(CALL_END)) === undefined && !source.done) return undefined;
      yield { name: id.replace(/^functions\./, "").replace(/:\d+$/, ""), args, id };
      const end = source.position;
      yield* source.space();
      const next = yield* source.literal(CALL, SECTION_END);
      if (next !== CALL) return next === SECTION_END ? source.position : end;
    }
  },
};
