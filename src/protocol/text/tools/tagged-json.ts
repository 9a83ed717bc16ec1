import type { ToolFamily } from "../family.ts";
import { callOfJson, closed, jsonBlock, jsonListItems, membersOf, parseObject } from "../json-call.ts";

/** `<|action_start|><|plugin|>{"name": "f", "parameters": {}}<|action_end|>` */
export const internlm: ToolFamily = {
  name: "internlm",
  openings: ["<|action_start|>"],
  *read(source) {
    yield* source.space();
    if ((yield* source.literal("<|plugin|>")) === undefined) return undefined;
    return yield* jsonBlock(source, ["<|action_end|>"]);
  },
};

/** `functools[{"name": "f", "arguments": {}}]`, in other templates `<|tool_call|>[...]<|/tool_call|>` */
export const phi4Mini: ToolFamily = {
  name: "phi4-mini",
  openings: ["functools[", "<|tool_call|>"],
  *read(source, opening) {
    if (opening === "<|tool_call|>") return yield* jsonBlock(source, ["<|/tool_call|>"]);
    return (yield* jsonListItems(source)) ? source.position : undefined;
  },
};

/** `<tool_calls>` and a JSON object a line, or a JSON list: MiniMax M1, Jamba, Hunyuan A13B. */
export const minimaxM1: ToolFamily = {
  name: "minimax-m1",
  openings: ["<tool_calls>"],
  *read(source) {
    yield* source.space();
    if ((yield* source.peek()) === "[") return yield* jsonBlock(source, ["</tool_calls>"]);
    for (;;) {
      const text = yield* source.object();
      const call = text === undefined ? undefined : callOfJson(text);
      if (call === undefined) return undefined;
      yield call;
      yield* source.space();
      yield* source.literal(",");
      yield* source.space();
      if ((yield* source.literal("</tool_calls>")) !== undefined || source.done) return source.position;
    }
  },
};

/** `<longcat_tool_call>{"name": "f", "arguments": {}}</longcat_tool_call>` */
export const longcat: ToolFamily = {
  name: "longcat",
  openings: ["<longcat_tool_call>"],
  read: (source) => jsonBlock(source, ["</longcat_tool_call>"]),
};

/** `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}]<|END_ACTION|>`; those ids begin anew in each answer. */
export const cohere: ToolFamily = {
  name: "cohere",
  openings: ["<|START_ACTION|>"],
  read: (source) => jsonBlock(source, ["<|END_ACTION|>"]),
};

/** `<|function_call|>{"name": "f", "arguments": {}}` */
export const gigachat3: ToolFamily = {
  name: "gigachat3",
  openings: ["<|function_call|>"],
  read: (source) => jsonBlock(source, []),
};

/** `<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|>` */
export const apertus: ToolFamily = {
  name: "apertus",
  openings: ["<|tools_prefix|>"],
  *read(source) {
    yield* source.space();
    if ((yield* source.literal("[")) === undefined) return undefined;
    const items = jsonListItems(source, (text) => {
      const [member, ...others] = parseObject(text) === undefined ? [] : membersOf(text);
      return member === undefined || others.length > 0 ? undefined : { name: member[0], args: member[1] };
    });
    return (yield* items) ? yield* closed(source, ["<|tools_suffix|>"]) : undefined;
  },
};

/** A JSON list, bare, in a code fence or in the tags of others. */
export const xlam: ToolFamily = {
  name: "xlam",
  openings: ["```json", "[TOOL_CALLS]", "<tool_call>"],
  bare: () => [["[", "{", '"name"']],
  *read(source, opening) {
    if (opening === "```json") return yield* jsonBlock(source, ["```"]);
    return yield* jsonBlock(source, opening === "<tool_call>" ? ["</tool_call>"] : []);
  },
};
