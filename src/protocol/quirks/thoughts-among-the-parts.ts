import { textOf } from "../chat/text.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";

export const why =
  'Mistral\'s reasoning models write thoughts as a part of the content (`{type: "thinking", thinking: [{type: "text", text}]}`), ' +
  'Databricks as `{type: "reasoning", summary: [...]}`; a client that joins the parts reads them as the answer, or not at all.';

const THOUGHTS: ReadonlySet<unknown> = new Set(["thinking", "reasoning"]);

/** The same delta or message with the thoughts of its content where thoughts belong. */
export function withThoughtsApart(said: JsonObject): JsonObject {
  const { content, ...rest } = said;
  if (!Array.isArray(content) || !content.some(isThought)) return said;
  const text = content.filter((part) => !isThought(part));
  const thoughts = content.filter(isThought).map(thoughtOf).join("");
  const before = textOf(rest["reasoning"]) ?? "";
  return {
    ...rest,
    ...(before + thoughts === "" ? {} : { reasoning: before + thoughts }),
    ...(text.length === 0 ? {} : { content: text }),
  };
}

const isThought = (part: unknown): part is JsonObject => isObject(part) && THOUGHTS.has(part["type"]);

const thoughtOf = ({ thinking, reasoning, summary, text, content }: JsonObject): string =>
  textOf(thinking ?? reasoning ?? summary ?? text ?? content) ?? "";
