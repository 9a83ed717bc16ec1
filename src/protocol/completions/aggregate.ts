import type { Aggregate } from "../answer-gather.ts";
import { joinLists, put } from "../json/join.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import { TEXT_COMPLETION } from "./types.ts";

interface Gathered {
  readonly pieces: string[];
  readonly vendor: JsonObject;
  logprobs: JsonObject | null;
  finish: unknown;
}

const OWN_CHUNK: ReadonlySet<string> = new Set(["choices", "usage", "object"]);

/** A text completion as JSON, gathered from the chunks of a stream that holds to the contract. */
export function createTextAggregate(): Aggregate {
  const choices = new Map<number, Gathered>();
  const head: JsonObject = {};

  const add = (chunk: JsonObject): void => {
    for (const [key, value] of Object.entries(chunk)) {
      if (!OWN_CHUNK.has(key) && (value !== null || !Object.hasOwn(head, key))) put(head, key, value);
    }
    for (const wire of chunk["choices"] as JsonObject[]) {
      const index = wire["index"] as number;
      let gathered = choices.get(index);
      if (gathered === undefined) {
        choices.set(index, (gathered = { pieces: [], vendor: {}, logprobs: null, finish: null }));
      }
      addChoice(gathered, wire);
    }
  };

  return {
    unchanged: (_data, chunk): void => add(chunk),
    changed: add,
    completion(conform): JsonObject {
      const usage = conform.usage();
      const { id, created, model, ...vendor } = head;
      return {
        id,
        object: TEXT_COMPLETION,
        created,
        model,
        choices: [...choices].sort(([a], [b]) => a - b).map(([index, gathered]) => choiceOf(index, gathered)),
        ...vendor,
        ...(usage === undefined ? {} : { usage }),
      };
    },
  };
}

function addChoice(gathered: Gathered, wire: JsonObject): void {
  const { index: _index, text, logprobs, finish_reason, ...vendor } = wire;
  if (text !== "") gathered.pieces.push(text as string);
  if (isObject(logprobs)) gathered.logprobs = joinLists(gathered.logprobs ?? {}, logprobs);
  if (finish_reason !== null) gathered.finish = finish_reason;
  for (const [key, value] of Object.entries(vendor)) {
    if (value !== null || !Object.hasOwn(gathered.vendor, key)) put(gathered.vendor, key, value);
  }
}

const choiceOf = (index: number, { pieces, vendor, logprobs, finish }: Gathered): JsonObject => ({
  index,
  text: pieces.join(""),
  logprobs,
  finish_reason: finish,
  ...vendor,
});
