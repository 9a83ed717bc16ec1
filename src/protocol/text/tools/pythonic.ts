import type { Reading, ToolFamily } from "../family.ts";
import { closed } from "../json-call.ts";
import { pythonCall } from "../python-call.ts";
import type { TextSource } from "../source.ts";

const CLOSINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["<|python_start|>", ["<|python_end|>"]],
  ["<function_calls>", ["</function_calls>"]],
  ["<|tool_call_start|>", ["<|tool_call_end|>"]],
  ["", []],
]);

function* calls(source: TextSource, opening: string): Reading<number | undefined> {
  yield* source.space();
  const list = (yield* source.literal("[")) !== undefined;
  if (!list && opening === "") return undefined;
  for (;;) {
    yield* source.space();
    const name = yield* source.word();
    const brackets = name === "" ? undefined : yield* source.brackets();
    const call = brackets === undefined ? undefined : pythonCall(name, brackets);
    if (call === undefined) return undefined;
    yield call;
    const end = source.position;
    const space = yield* source.space();
    if ((yield* source.literal(",")) !== undefined) continue;
    if (list) {
      if ((yield* source.literal("]")) === undefined) return source.done ? end : undefined;
      break;
    }
    // Without brackets, each call has its line.
    if (!space.includes("\n") || !/[\p{L}_]/u.test(yield* source.peek())) break;
  }
  return yield* closed(source, CLOSINGS.get(opening) ?? []);
}

/** `[f(a=1), g(s="x")]`, bare or in the wrappers of Llama 4 and OLMo 3 (which has a line a call, without brackets). */
export const pythonic: ToolFamily = {
  name: "pythonic",
  openings: ["<|python_start|>", "<function_calls>"],
  bare: (tools) => [...tools.keys()].map((name) => ["[", name, "("]),
  read: calls,
};

/** `<|tool_call_start|>[f(a=1)]<|tool_call_end|>` */
export const lfm2: ToolFamily = { ...pythonic, name: "lfm2", openings: ["<|tool_call_start|>"] };
