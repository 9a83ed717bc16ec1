import type { AnswerForm } from "../answer-form.ts";
import { createHead } from "../chat/head.ts";
import type { Identity } from "../chat/types.ts";
import { sumOfUsages } from "../usage-sum.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import { textForm } from "./form.ts";
import { ID_PREFIX, TEXT_COMPLETION } from "./types.ts";

export interface SeriesShape {
  readonly prompts: number;
  readonly n: number;
  readonly includeUsage: boolean;
}

/** The forms of answers that are asked for one by one, a prompt each, and that the client reads as one stream. */
export function textSeries({ prompts, n, includeUsage }: SeriesShape, identity: Identity): AnswerForm[] {
  const head = createHead(TEXT_COMPLETION, ID_PREFIX, identity);
  const usages: (JsonObject | undefined)[] = [];
  const total = (usage: JsonObject | undefined): JsonObject | undefined => {
    usages.push(usage);
    return sumOfUsages(usages);
  };
  return Array.from({ length: prompts }, (_, at) =>
    textForm({ choices: n, includeUsage }, { head, offset: at * n, last: at === prompts - 1, total }),
  );
}

/** The same for a client that wants JSON: the answers to single prompts, in their order, as one. */
export function joinedText(bodies: readonly JsonObject[], n: number): JsonObject {
  const [first, ...rest] = bodies as [JsonObject, ...JsonObject[]];
  const choices = bodies.flatMap((body, prompt) =>
    (body["choices"] as JsonObject[]).map((choice) => ({ ...choice, index: prompt * n + Number(choice["index"]) })),
  );
  const { usage, ...head } = first;
  const total = sumOfUsages(
    [usage, ...rest.map((body) => body["usage"])].map((one) => (isObject(one) ? one : undefined)),
  );
  return { ...head, choices, ...(total === undefined ? {} : { usage: total }) };
}
