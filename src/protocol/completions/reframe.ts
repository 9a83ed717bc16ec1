import { pieces } from "../chat/text.ts";
import type { WireChunk } from "../chat/types.ts";
import { isObject, type JsonObject } from "../json/lossless.ts";
import { TEXT_COMPLETION } from "./types.ts";

const PIECE_LENGTH = 2048;

/**
 * The chunks of a stream that says what a whole text completion says; the usage comes last.
 * @param body a completion that holds to the contract (`conformTextCompletion`)
 */
export function reframeText(body: JsonObject, includeUsage: boolean): WireChunk[] {
  const { id, created, model, choices, usage, object: _object, system_fingerprint, ...vendor } = body;
  const head: JsonObject = { id, object: TEXT_COMPLETION, created, model };
  if (system_fingerprint !== undefined) head["system_fingerprint"] = system_fingerprint;
  const list = (choices as JsonObject[]).flatMap(choiceChunks);
  const chunks = list.map((choice, i): WireChunk => ({ ...head, choices: [choice], ...(i === 0 ? vendor : {}) }));
  if (includeUsage && isObject(usage)) chunks.push({ ...head, choices: [], usage });
  return chunks;
}

/** Where there are logprobs the text stays in one piece: which tokens belong to a part of it cannot be told for sure. */
function choiceChunks(choice: JsonObject): JsonObject[] {
  const { index, text, logprobs, finish_reason, ...vendor } = choice;
  const size = isObject(logprobs) ? Infinity : PIECE_LENGTH;
  const parts = text === "" && isObject(logprobs) ? [""] : pieces(text as string, size);
  return [
    ...parts.map((part) => ({
      index,
      text: part,
      logprobs: isObject(logprobs) ? logprobs : null,
      finish_reason: null,
    })),
    { index, text: "", logprobs: null, finish_reason, ...vendor },
  ];
}
