import { callOfJson, parseObject } from "../json-call.ts";
import type { ToolFamily } from "../family.ts";

/** A text that is nothing but a JSON object, where the request has chosen this tool: its arguments, or the call of it. */
export function chosenTool(name: string): ToolFamily {
  return {
    name: "chosen",
    openings: [],
    bare: () => [["{"]],
    *read(source) {
      const text = yield* source.object();
      if (text === undefined || parseObject(text) === undefined) return undefined;
      yield* source.space();
      if ((yield* source.peek()) !== "") return undefined;
      const call = callOfJson(text);
      yield call?.name === name ? call : { name, args: text };
      return source.position;
    },
  };
}
