import type { JsonObject } from "../json/lossless.ts";
import type { FinishReason } from "./types.ts";

/**
 * Rewrites the deltas of ONE choice, as they come from the upstream: text that is a tool call becomes a tool call, thoughts in tags
 * become reasoning. Made fresh per choice and answer. A whole message is one delta followed by its end.
 */
export interface ChoicePass {
  /** Holds nothing back and has nothing to remember: the choice can do without it until there is reason for it again. */
  readonly idle?: boolean;
  /** The deltas that say what this one says, as far as that can be told yet; what cannot is held back. */
  take(delta: JsonObject): JsonObject[];
  /** The choice ends with this finish: what was held back, and the finish it really is. */
  end(finish: FinishReason): { readonly deltas: JsonObject[]; readonly finish: FinishReason };
}
