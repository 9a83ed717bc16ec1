import type { ToolFamily } from "../family.ts";
import { jsonBlock } from "../json-call.ts";

/** `<tool_call>{"name": "f", "arguments": {}}</tool_call>`, once a call: Hermes, Qwen 2.5 and 3, Granite 4, Ernie 4.5. */
export const hermes: ToolFamily = {
  name: "hermes",
  openings: ["<tool_call>"],
  read: (source) => jsonBlock(source, ["</tool_call>"]),
};
