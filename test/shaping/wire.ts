import type { Script } from "../gateway/scripted-upstream.ts";
import { chunkOf, completion, done, event, finish, inChunk, lastChunk, response, role, says, streamHead, streamOf } from "../gateway/wire.ts";

/** A server that says `text` in the form it was asked in. */
export const inFormAsked =
  (text: string): Script =>
  ({ asked, put }) =>
    put((JSON.parse(asked.body) as { stream?: boolean }).stream === true ? streamOf(text) : response(200, completion(text)));
