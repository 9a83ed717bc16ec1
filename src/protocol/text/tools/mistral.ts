import type { Reading, ToolFamily } from "../family.ts";
import { jsonBlock } from "../json-call.ts";
import type { TextSource } from "../source.ts";

function* calls(source: TextSource): Reading<number | undefined> {
  yield* source.space();
  if (["{", "["].includes(yield* source.peek())) return yield* jsonBlock(source, []);
  const name = yield* source.word();
  if (name === "") return undefined;
  yield* source.space();
  const idTag = yield* source.literal("[CALL_ID]");
  const id = idTag === undefined ? undefined : yield* source.word();
  yield* source.literal("[ARGS]");
  yield* source.space();
  const args = yield* source.object();
  if (args === undefined) return undefined;
  yield id === undefined ? { name, args } : { name, args, id };
  return source.position;
}

/** `[TOOL_CALLS][{"name": "f", "arguments": {}}]`, newer `[TOOL_CALLS]f[ARGS]{}`, once a call; `[ARGS]` may be missing. */
export const mistral: ToolFamily = {
  name: "mistral",
  openings: ["[TOOL_CALLS]"],
  bare: () => [["[", "{", '"name"']],
  read: calls,
};
