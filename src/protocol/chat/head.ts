import type { JsonObject } from "../json/lossless.ts";
import type { Identity, WireChunk } from "./types.ts";

/** The members that stand at the head of every chunk of one answer: the same ones from the first to the last. */
export interface Head {
  /** Whether a chunk carries the head as it is, so that it need not be written anew. */
  stands(chunk: JsonObject): boolean;
  /** The chunk with the right head, other choices, and nothing of usage or errors. */
  rewrite(chunk: JsonObject, choices: JsonObject[]): WireChunk;
  /** The first values that the upstream itself gave. */
  readonly seen: Readonly<{ id?: string; created?: number; model?: string }>;
}

export function createHead(object: string, idPrefix: string, identity: Identity): Head {
  const seen: { id?: string; created?: number; model?: string } = {};
  let fixed: { id: string; created: number; model: string } | undefined;

  /** Takes what the chunk says of itself; what the first chunk leaves out is made once. */
  const headFor = ({ id, created, model }: JsonObject): { id: string; created: number; model: string } => {
    if (seen.id === undefined && typeof id === "string" && id !== "") seen.id = id;
    if (seen.model === undefined && typeof model === "string" && model !== "") seen.model = model;
    if (seen.created === undefined && typeof created === "number" && created > 0) seen.created = Math.floor(created);
    fixed ??= {
      id: seen.id ?? identity.newId(idPrefix),
      created: seen.created ?? identity.created,
      model: identity.reportedModel ?? seen.model ?? identity.model,
    };
    return fixed;
  };

  return {
    seen,
    stands(chunk): boolean {
      const { id, created, model } = headFor(chunk);
      return (
        chunk["id"] === id && chunk["created"] === created && chunk["model"] === model && chunk["object"] === object
      );
    },
    rewrite(chunk, choices): WireChunk {
      const { usage: _usage, error: _error, ...rest } = chunk;
      return { ...rest, ...headFor(chunk), object, choices };
    },
  };
}
