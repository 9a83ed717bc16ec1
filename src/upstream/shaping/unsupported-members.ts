import type { GatewayError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json/lossless.ts";
import type { Draft, Rule } from "./draft.ts";
import { refuseOrDrop } from "./refusal.ts";

/** What changes the answer is never ignored in silence; what is advice only (`store`, `metadata`, `service_tier`) passes. */
export const unsupportedMembers: Rule = {
  name: "unsupported-members",
  apply: (draft) => tools(draft) ?? responseFormat(draft) ?? logprobs(draft) ?? audio(draft),
};

function tools(draft: Draft): GatewayError | undefined {
  const { capabilities, text } = draft.target;
  // Calls are then written and read as text.
  if (text.tools !== "none") return undefined;
  if (!capabilities.tools && draft.has("tools")) {
    const param = draft.answer.legacyFunctions ? "functions" : "tools";
    draft.answer.legacyFunctions = false;
    return refuseOrDrop(draft, param, "tools", ["tools", "tool_choice", "parallel_tool_calls"]);
  }
  const choice = draft.get("tool_choice");
  const forced = choice === "required" || isObject(choice);
  return forced && !capabilities.tool_choice_required
    ? refuseOrDrop(draft, "tool_choice", "a tool_choice that forces a call")
    : undefined;
}

function responseFormat(draft: Draft): GatewayError | undefined {
  const format = draft.get("response_format");
  const type = isObject(format) ? format["type"] : undefined;
  if (type !== "json_schema" && type !== "json_object") return undefined;
  return draft.target.capabilities[type]
    ? undefined
    : refuseOrDrop(draft, "response_format", `a response_format of ${type}`);
}

function logprobs(draft: Draft): GatewayError | undefined {
  if (draft.target.capabilities.logprobs || draft.get("logprobs") !== true) return undefined;
  return refuseOrDrop(draft, "logprobs", "logprobs", ["logprobs", "top_logprobs"]);
}

function audio(draft: Draft): GatewayError | undefined {
  const modalities = draft.get("modalities");
  if (draft.target.capabilities.audio || !Array.isArray(modalities)) return undefined;
  return modalities.every((one) => one === "text")
    ? undefined
    : refuseOrDrop(draft, "modalities", "answers other than text", ["modalities", "audio"]);
}
