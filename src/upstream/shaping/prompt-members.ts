import type { GatewayError } from "../../protocol/errors.ts";
import type { Draft, Rule } from "./draft.ts";
import { refuseOrDrop, unsupported } from "./refusal.ts";

/** What only legacy completions have, and what some servers refuse or, worse, ignore. */
export const promptMembers: Rule = {
  name: "prompt-members",
  apply: (draft) => tokens(draft) ?? bestOf(draft) ?? suffix(draft) ?? echo(draft) ?? logprobs(draft),
};

/** They cannot be turned into text here, so nothing could be left out. */
function tokens(draft: Draft): GatewayError | undefined {
  const prompt = draft.get("prompt");
  const areTokens = Array.isArray(prompt) && typeof prompt[0] !== "string";
  return areTokens && !draft.target.capabilities.prompt_tokens
    ? unsupported("prompt", "prompts as token ids")
    : undefined;
}

function bestOf(draft: Draft): GatewayError | undefined {
  const value = draft.get("best_of");
  // One of one is what there is anyway.
  const matters = typeof value === "number" && value > 1;
  return matters && !draft.target.capabilities.best_of ? refuseOrDrop(draft, "best_of", "best_of") : undefined;
}

function suffix(draft: Draft): GatewayError | undefined {
  const value = draft.get("suffix");
  const matters = draft.has("suffix") && value !== "";
  return matters && !draft.target.capabilities.suffix ? refuseOrDrop(draft, "suffix", "suffix") : undefined;
}

function echo(draft: Draft): GatewayError | undefined {
  const matters = draft.get("echo") === true;
  return matters && !draft.target.capabilities.echo ? refuseOrDrop(draft, "echo", "echo") : undefined;
}

function logprobs(draft: Draft): GatewayError | undefined {
  const matters = typeof draft.get("logprobs") === "number";
  return matters && !draft.target.capabilities.logprobs ? refuseOrDrop(draft, "logprobs", "logprobs") : undefined;
}
