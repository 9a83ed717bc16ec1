import type { Range, Ranged, Ranges } from "../provider.ts";
import type { Draft, Rule } from "./draft.ts";
import { wrongValue } from "./refusal.ts";

/** A value out of the upstream's range is refused, not put into it: the client would not get what it asked for. */
export const samplingRanges: Rule = {
  name: "sampling-ranges",
  apply(draft) {
    for (const [param, range] of listOf(draft.target.capabilities.ranges))
      if (isOutside(draft, param, range)) return wrongValue(param, `this model takes ${inWords(range)}`);
    return undefined;
  },
};

/** By each name that a client may use. A target's ranges are listed once. */
const lists = new WeakMap<Ranges, readonly (readonly [string, Range])[]>();

function listOf(ranges: Ranges): readonly (readonly [string, Range])[] {
  let list = lists.get(ranges);
  if (list === undefined) {
    list = (Object.entries(ranges) as [Ranged, Range][]).flatMap(([name, range]) =>
      (name === "repetition_penalty" ? [name, "repeat_penalty"] : [name]).map((param) => [param, range] as const),
    );
    lists.set(ranges, list);
  }
  return list;
}

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
