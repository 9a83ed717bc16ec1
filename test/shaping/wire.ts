import type { Script } from "../gateway/scripted-upstream.ts";
import { completion, response, streamOf } from "../gateway/wire.ts";

export const asksForStream = (body: string): boolean => (JSON.parse(body) as { stream?: boolean }).stream === true;

/** A server that says `text` in the form it was asked in. */
export const inFormAsked =
  (text: string): Script =>
  ({ asked, put }) =>
    put(asksForStream(asked.body) ? streamOf(text) : response(200, completion(text)));
