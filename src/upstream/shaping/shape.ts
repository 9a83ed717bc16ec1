import type { GatewayError } from "../../protocol/errors.ts";
import { err, ok, type Result } from "../../protocol/result.ts";
import { cacheSalt } from "./cache-salt.ts";
import { callArguments } from "./call-arguments.ts";
import { callIds } from "./call-ids.ts";
import { constraints } from "./constraints.ts";
import { contentParts } from "./content-parts.ts";
import { defaults } from "./defaults.ts";
import { createDraft, type Rule, type Shaped, type ShapingInput } from "./draft.ts";
import { emptyMembers } from "./empty-members.ts";
import { greedy } from "./greedy.ts";
import { instructionRole } from "./instruction-role.ts";
import { legacyFunctions } from "./legacy-functions.ts";
import { manyChoices } from "./many-choices.ts";
import { maxTokens } from "./max-tokens.ts";
import { nullMembers } from "./null-members.ts";
import { parallelToolCalls } from "./parallel-tool-calls.ts";
import { privilegedMembers } from "./privileged-members.ts";
import { reasoningHistory } from "./reasoning-history.ts";
import { repetitionPenalty } from "./repetition-penalty.ts";
import { samplingRanges } from "./sampling-ranges.ts";
import { seed } from "./seed.ts";
import { targetModel } from "./target-model.ts";
import { textTools } from "./text-tools.ts";
import { toolChoiceNone } from "./tool-choice-none.ts";
import { topKOff } from "./top-k-off.ts";
import { unsupportedMembers } from "./unsupported-members.ts";

/** Everything that may be changed about a chat request, in the order in which it is. */
export const CHAT_RULES: readonly Rule[] = [
  nullMembers,
  emptyMembers,
  privilegedMembers,
  defaults,
  legacyFunctions,
  maxTokens,
  instructionRole,
  toolChoiceNone,
  textTools,
  parallelToolCalls,
  constraints,
  unsupportedMembers,
  manyChoices,
  greedy,
  topKOff,
  samplingRanges,
  repetitionPenalty,
  seed,
  callArguments,
  callIds,
  reasoningHistory,
  contentParts,
  cacheSalt,
  targetModel,
];

/** The same for legacy completions, where a `max_tokens` of 0 has a meaning and there are no messages. */
export const COMPLETION_RULES: readonly Rule[] = [
  nullMembers,
  emptyMembers,
  privilegedMembers,
  defaults,
  constraints,
  unsupportedMembers,
  greedy,
  topKOff,
  samplingRanges,
  repetitionPenalty,
  seed,
  cacheSalt,
  targetModel,
];

/** What every other endpoint needs. */
export const PLAIN_RULES: readonly Rule[] = [nullMembers, privilegedMembers, defaults, targetModel];

/** A request as its target can take it, or why it cannot. A request that needs nothing keeps its bytes. */
export function shapeRequest(input: ShapingInput, rules: readonly Rule[] = CHAT_RULES): Result<Shaped, GatewayError> {
  const draft = createDraft(input);
  for (const rule of rules) {
    const fault = rule.apply(draft);
    if (fault !== undefined) return err(fault);
  }
  return ok(draft.finish());
}

const MOST_CHANGES = 24;
const NAME = /^[\w.~+>-]{1,80}$/;

/** The header that tells a client what was changed. Names that it has made up itself are only counted. */
export function changedHeader(changed: readonly string[]): Readonly<Record<string, string>> {
  if (changed.length === 0) return {};
  const known = changed.filter((change) => NAME.test(change)).slice(0, MOST_CHANGES);
  const rest = changed.length - known.length;
  return { "x-sluice-changed": [...known, ...(rest > 0 ? [`${rest} more`] : [])].join(", ") };
}
