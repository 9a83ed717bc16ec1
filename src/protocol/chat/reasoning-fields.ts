import type { JsonObject } from "../json/lossless.ts";
import { textOf } from "./text.ts";

/**
 * In which member thoughts reach the client: servers write one of two, clients read the other. `as_sent` leaves them where they are,
 * `none` takes them away.
 */
export type ReasoningFields = "both" | "as_sent" | "reasoning" | "reasoning_content" | "none";

const NAMES = ["reasoning", "reasoning_content"] as const;

const wanted = (fields: ReasoningFields, name: (typeof NAMES)[number]): boolean => fields === "both" || fields === name;

/** Whether the thoughts of a delta or message are where they belong, as texts. */
export function hasReasoningFields(said: JsonObject, fields: ReasoningFields): boolean {
  const { reasoning, reasoning_content } = said;
  if (reasoning === undefined && reasoning_content === undefined) return true;
  if (fields === "as_sent") return true;
  if (!isThought(reasoning) && !isThought(reasoning_content)) return true;
  const isRight = (value: unknown, name: (typeof NAMES)[number]): boolean =>
    wanted(fields, name) ? isThought(value) : !isThought(value);
  return (
    isRight(reasoning, "reasoning") &&
    isRight(reasoning_content, "reasoning_content") &&
    (fields !== "both" || reasoning === reasoning_content)
  );
}

/** The same delta or message with its thoughts where they belong. */
export function withReasoningFields(said: JsonObject, fields: ReasoningFields): JsonObject {
  if (hasReasoningFields(said, fields)) return said;
  const { reasoning, reasoning_content, ...rest } = said;
  const text = thoughtOf(reasoning) ?? thoughtOf(reasoning_content);
  return text === undefined || fields === "none"
    ? rest
    : { ...rest, ...Object.fromEntries(NAMES.filter((name) => wanted(fields, name)).map((name) => [name, text])) };
}

const isThought = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

function thoughtOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === null || text === "" ? undefined : text;
}
