import type { ToolFamily } from "../family.ts";
import { jsonBlock } from "../json-call.ts";

/** `<|tool_call|>[{"name": "f", "arguments": {}}]`, in some versions `<tool_call>[...]`; nothing ends it. */
export const granite: ToolFamily = {
  name: "granite",
  openings: ["<|tool_call|>", "<tool_call>"],
  read: (source) => jsonBlock(source, []),
};

/** `<function_call> {"name": "f", "arguments": {}}`, once a call. */
export const granite20b: ToolFamily = {
  name: "granite-20b-fc",
  openings: ["<function_call>"],
  read: (source) => jsonBlock(source, []),
};
