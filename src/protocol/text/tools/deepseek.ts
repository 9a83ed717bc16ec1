import type { Reading, TextCall, ToolFamily } from "../family.ts";
import type { TextSource } from "../source.ts";
import { invokes } from "./invoke.ts";

const SECTION = "<｜tool▁calls▁begin｜>";
const SECTION_END = "<｜tool▁calls▁end｜>";
const CALL = "<｜tool▁call▁begin｜>";
const CALL_END = "<｜tool▁call▁end｜>";
const SEPARATOR = "<｜tool▁sep｜>";

/** Reads one call, in the form of V3 and R1 (`function<sep>f`, a newline, fenced JSON) or of V3.1 (`f<sep>{}`). */
function* oneCall(source: TextSource): Reading<TextCall | undefined> {
  yield* source.space();
  let name = yield* source.word();
  if ((yield* source.literal(SEPARATOR)) === undefined) return undefined;
  yield* source.space();
  let fenced = false;
  if (name === "function" && (yield* source.peek()) !== "{") {
    name = yield* source.word();
    yield* source.space();
    fenced = (yield* source.literal("```json", "```")) !== undefined;
    yield* source.space();
  }
  const args = yield* source.object();
  yield* source.space();
  if (fenced) yield* source.literal("```");
  yield* source.space();
  return args === undefined ? undefined : { name, args };
}

function* calls(source: TextSource, opening: string): Reading<number | undefined> {
  yield* source.space();
  if (opening === SECTION && (yield* source.literal(CALL)) === undefined) return undefined;
  for (;;) {
    const call = yield* oneCall(source);
    if (call === undefined) return undefined;
    if ((yield* source.literal(CALL_END)) === undefined && !source.done) return undefined;
    yield call;
    const end = source.position;
    yield* source.space();
    const next = yield* source.literal(CALL, SECTION_END);
    if (next !== CALL) return next === SECTION_END ? source.position : end;
  }
}

export const deepseekV3: ToolFamily = { name: "deepseek-v3", openings: [SECTION, CALL], read: calls };
export const deepseekV31: ToolFamily = { ...deepseekV3, name: "deepseek-v31" };

/** `<｜DSML｜function_calls>` and, in it, invocations that say of each parameter whether it is a string. */
export const deepseekV32: ToolFamily = {
  name: "deepseek-v32",
  openings: ["<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"],
  read: (source, opening, tools) =>
    invokes(source, tools, {
      element: "｜DSML｜invoke",
      parameter: "｜DSML｜parameter",
      closing: opening.replace("<", "</"),
    }),
};
