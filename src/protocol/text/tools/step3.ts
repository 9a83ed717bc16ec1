import type { ToolFamily } from "../family.ts";
import { invoke } from "./invoke.ts";

const CALL = "<｜tool_call_begin｜>";
const END = "<｜tool_calls_end｜>";
const TAGS = { element: "steptml:invoke", parameter: "steptml:parameter", closing: undefined };

/** `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">...<｜tool_call_end｜><｜tool_calls_end｜>` */
export const step3: ToolFamily = {
  name: "step3",
  openings: ["<｜tool_calls_begin｜>"],
  *read(source, _opening, tools) {
    for (;;) {
      yield* source.space();
      if ((yield* source.literal(CALL)) === undefined) return undefined;
      yield* source.word();
      yield* source.literal("<｜tool_sep｜>");
      if ((yield* source.literal('<steptml:invoke name="')) === undefined) return undefined;
      const call = yield* invoke(source, tools, TAGS);
      if (call === undefined) return undefined;
      yield* source.space();
      if ((yield* source.literal("<｜tool_call_end｜>")) === undefined && !source.done) return undefined;
      yield call;
      const end = source.position;
      yield* source.space();
      yield* source.literal("<｜tool_sep｜>");
      yield* source.space();
      if ((yield* source.literal(END)) !== undefined) return source.position;
      if ((yield* source.peek()) === "") return end;
    }
  },
};
