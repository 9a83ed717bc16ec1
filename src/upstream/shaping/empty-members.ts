import type { Rule } from "./draft.ts";

// Not those that may mean something empty (`metadata`, `chat_template_kwargs`), nor any that are unknown.
const LISTS = ["tools", "functions", "stop", "modalities", "logit_bias", "stop_token_ids", "bad_words", "documents"];
const TEXTS = ["stop", "user", "tool_choice", "function_call", "reasoning_effort", "response_format"];

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** Frameworks write `tools: []` and `stop: []` for "none"; servers refuse them. */
export const emptyMembers: Rule = {
  name: "empty-members",
  apply(draft) {
    const hadTools = draft.get("tools") !== undefined;
    for (const name of LISTS) if (isEmpty(draft.get(name))) draft.drop(name);
    for (const name of TEXTS) if (draft.get(name) === "") draft.drop(name);
    if (!hadTools || draft.has("tools") || draft.has("functions")) return undefined;
    // Without tools they would be refused.
    const choice = draft.get("tool_choice");
    if (choice === "none" || choice === "auto") draft.drop("tool_choice");
    if (draft.has("parallel_tool_calls")) draft.drop("parallel_tool_calls");
    return undefined;
  },
};
