import type { Range, Ranged } from "../provider.ts";
import type { Draft, Rule } from "./draft.ts";
import { wrongValue } from "./refusal.ts";

/** A value out of the upstream's range is refused, not put into it: the client would not get what it asked for. */
export const samplingRanges: Rule = {
  name: "sampling-ranges",
  apply(draft) {
    for (const [name, range] of Object.entries(draft.target.capabilities.ranges) as [Ranged, Range][]) {
      for (const param of name === "repetition_penalty" ? [name, "repeat_penalty"] : [name]) {
        if (isOutside(draft, param, range)) return wrongValue(param, `this model takes ${inWords(range)}`);
      }
    }
    return undefined;
  },
};

function isOutside(
  draft: Draft,
  param: string,
  { min = -Infinity, above = -Infinity, max = Infinity }: Range,
): boolean {
  const value = draft.get(param);
  return typeof value === "number" && (value < min || (above !== -Infinity && value <= above) || value > max);
}

const inWords = ({ min, above, max }: Range): string =>
  [
    min === undefined ? [] : `at least ${min}`,
    above === undefined ? [] : `more than ${above}`,
    max === undefined ? [] : `at most ${max}`,
  ]
    .flat()
    .join(" and ");
