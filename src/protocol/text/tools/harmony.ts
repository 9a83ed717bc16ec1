import type { ToolFamily } from "../family.ts";

const ENDS = ["<|call|>", "<|end|>", "<|return|>"];

/** `<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>`: gpt-oss, where its server does not read it. */
export const harmony: ToolFamily = {
  name: "harmony",
  openings: ["<|channel|>commentary to=", "<|start|>assistant<|channel|>commentary to=", "<|start|>assistant to="],
  *read(source) {
    const recipient = yield* source.word();
    yield* source.space();
    yield* source.literal("<|channel|>commentary");
    yield* source.space();
    yield* source.literal("<|constrain|>");
    yield* source.word();
    yield* source.space();
    if ((yield* source.literal("<|message|>")) === undefined) return undefined;
    yield* source.space();
    const args = yield* source.object();
    if (args === undefined) return undefined;
    yield* source.space();
    if ((yield* source.literal(...ENDS)) === undefined && !source.done) return undefined;
    yield { name: recipient.replace(/^functions\./, ""), args };
    return source.position;
  },
};
