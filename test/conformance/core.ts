// The protocol core alone, as the gateway uses it: bytes of an upstream in, bytes or JSON for a client out.
import { createChatGather } from "../../src/protocol/chat/aggregate.ts";
import type { Failure } from "../../src/protocol/chat/part.ts";
import { createChatStream } from "../../src/protocol/chat/stream.ts";
import type { AnswerShape, Identity } from "../../src/protocol/chat/types.ts";
import type { JsonObject } from "../../src/protocol/json/lossless.ts";
import { encodeEvent } from "../../src/protocol/sse/encode.ts";

const MAX_BYTES = 64 * 1024 * 1024;

/** Ids that are the same in every run, so that outputs can be compared. */
export function fixedIdentity(): Identity {
  let serial = 0;
  return { created: 1_700_000_000, model: "asked-model", newId: (prefix) => `${prefix}${++serial}` };
}

/** The client's stream for an upstream's reads, with the error event at its end where there is one. */
export function streamThrough(reads: Iterable<Uint8Array>, shape: AnswerShape): Buffer {
  const stream = createChatStream({ shape, identity: fixedIdentity() }, MAX_BYTES);
  const out: Buffer[] = [];
  const keep = (bytes: Uint8Array | undefined): void => {
    if (bytes !== undefined) out.push(Buffer.from(bytes));
  };
  for (const bytes of reads) {
    keep(stream.feed(bytes));
    if (stream.state.outcome !== undefined) break;
  }
  if (stream.state.outcome === undefined) keep(stream.end());
  const { outcome } = stream.state;
  if (outcome?.kind === "failed") {
    out.push(Buffer.from(encodeEvent(JSON.stringify({ error: outcome.failure.error.error }))));
  }
  return Buffer.concat(out);
}

export type Gathered = { readonly body: JsonObject } | { readonly failure: Failure };

/** The JSON client's answer for the same. */
export function gatherThrough(reads: Iterable<Uint8Array>, shape: AnswerShape): Gathered {
  const gather = createChatGather({ shape, identity: fixedIdentity() }, MAX_BYTES, MAX_BYTES);
  for (const bytes of reads) gather.feed(bytes);
  const result = gather.end();
  return result.ok ? { body: result.value } : { failure: result.error };
}
