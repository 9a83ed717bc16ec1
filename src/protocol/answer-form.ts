import type { Failure } from "./chat/part.ts";
import type { Identity } from "./chat/types.ts";
import type { JsonObject } from "./json/lossless.ts";
import type { Result } from "./result.ts";

export type Outcome = { readonly kind: "complete" } | { readonly kind: "failed"; readonly failure: Failure };

/** How far a streamed answer has come. */
export interface AnswerState {
  /** Something that answers has come: text, reasoning, a tool call, a refusal or a finish. */
  readonly answered: boolean;
  /** Every choice has finished; only usage and `[DONE]` can follow. */
  readonly finished: boolean;
  /** Counts the events that carried something, so that heartbeats can be told from answers. */
  readonly progress: number;
  readonly outcome: Outcome | undefined;
}

/**
 * From an upstream's bytes to the client's bytes, one call per network read, synchronously: on Workers the cost of a stream is the
 * hop between JavaScript and the runtime for each read and write, not the JSON between them.
 */
export interface AnswerStream {
  readonly state: AnswerState;
  /** What a read turned into, to be written as one piece; undefined: nothing yet. May be the very bytes that were given. */
  feed(bytes: Uint8Array): Uint8Array | undefined;
  /** The body has ended in an orderly way. */
  end(): Uint8Array | undefined;
  /** The body was cut or stalled. */
  fail(failure: Failure): Uint8Array | undefined;
}

/** From an upstream's bytes to one JSON answer, one call per network read. */
export interface AnswerGather {
  readonly state: AnswerState;
  feed(bytes: Uint8Array): void;
  /** The body has ended, in order or (with a failure) not. */
  end(failure?: Failure): Result<JsonObject, Failure>;
}

/** A whole answer that holds to the contract. `text` is the upstream's own where nothing had to be repaired. */
export interface WholeAnswer {
  readonly body: JsonObject;
  readonly text: string;
}

/** What the answer to one request of one endpoint family has to look like, and how it is read and written in each form. */
export interface AnswerForm {
  stream(identity: Identity): AnswerStream;
  gather(identity: Identity): AnswerGather;
  /** Holds a JSON answer to the contract. */
  whole(text: string, identity: Identity): Result<WholeAnswer, Failure>;
  /** The events, with `[DONE]`, that say what a whole answer says. */
  reframed(answer: WholeAnswer): string;
}

/** The largest event, and the largest whole answer, that an isolate of 128 MB is made to hold. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
