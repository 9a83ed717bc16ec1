import type { AnswerForm } from "../answer-form.ts";
import { createHead } from "../chat/head.ts";
import type { Identity } from "../chat/types.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import { sumOfUsages } from "../usage-sum.ts";
import { textForm } from "./form.ts";
import { ID_PREFIX, TEXT_COMPLETION } from "./types.ts";

/** Answers that are asked for one by one, and that the client reads as one. */
export interface SeriesShape {
  readonly prompts: number;
  /** How many requests are made for one prompt, each for ... */
  readonly copies: number;
  /** ... this many choices. */
  readonly n: number;
  readonly includeUsage: boolean;
}

/** The forms of the answers: prompt by prompt, and of one prompt copy by copy. */
export function textSeries({ prompts, copies, n, includeUsage }: SeriesShape, identity: Identity): AnswerForm[] {
  const head = createHead(TEXT_COMPLETION, ID_PREFIX, identity);
  const usages: (JsonObject | undefined)[] = [];
  const count = prompts * copies;
  return Array.from({ length: count }, (_, at) =>
    textForm(
      { choices: n, includeUsage },
      {
        head,
        offset: at * n,
        last: at === count - 1,
        total(usage): JsonObject | undefined {
          usages.push(counted(usage, at, copies));
          return sumOfUsages(usages);
        },
      },
    ),
  );
}

/** The same for a client that wants JSON. @param bodies in the order of the forms */
export function joinedText(bodies: readonly JsonObject[], { copies, n }: SeriesShape): JsonObject {
  const choices = bodies.flatMap((body, at) =>
    (body["choices"] as JsonObject[]).map((choice) => ({ ...choice, index: at * n + Number(choice["index"]) })),
  );
  const { usage: _usage, ...head } = bodies[0] as JsonObject;
  const total = sumOfUsages(bodies.map(({ usage }, at) => counted(isObject(usage) ? usage : undefined, at, copies)));
  return { ...head, choices, ...(total === undefined ? {} : { usage: total }) };
}

/** A prompt counts once, however often it had to be sent. */
function counted(usage: JsonObject | undefined, at: number, copies: number): JsonObject | undefined {
  if (usage === undefined || at % copies === 0) return usage;
  const { prompt_tokens, total_tokens, prompt_tokens_details: _details, ...rest } = usage;
  return { prompt_tokens: 0, total_tokens: Number(total_tokens) - Number(prompt_tokens), ...rest };
}
