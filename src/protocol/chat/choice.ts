import type { JsonObject } from "../json/lossless.ts";
import type { Call } from "./calls.ts";
import type { Brought } from "./finish.ts";
import { createUnrepeat, type Unrepeat } from "../quirks/texts-so-far.ts";
import type { ChoicePass } from "./pass.ts";
import type { AnswerShape, FinishReason } from "./types.ts";

/** How many tool calls one choice may make. */
export const MAX_CALLS = 1024;

/** One choice of one stream: what has gone by, and what waits. */
export interface Choice {
  /** The index that the client sees. */
  readonly index: number;
  readonly isPartialName: (name: string) => boolean;
  /** Its role has left. */
  started: boolean;
  /** Its finish has been seen; `held` is the chunk that brought it, which waits for the end of the answer. */
  ended: boolean;
  meaning: FinishReason | undefined;
  held: Held | undefined;
  hasText: boolean;
  hasReasoning: boolean;
  /** What whole messages have said, by member, where an upstream sends those in place of deltas. */
  readonly messageTexts: Map<string, string>;
  /** In the order in which they were opened. */
  readonly calls: Call[];
  functionName: boolean;
  functionCall: boolean;
  /** First halves of characters that wait for their second half, by member. */
  readonly halves: Map<string, string>;
  /** Rewrites its deltas, until it has ended. */
  pass: ChoicePass | undefined;
  /** For an upstream that repeats what it has said. */
  readonly unrepeat: Unrepeat | undefined;
}

/** A chunk that waits: `data` is its text if it may leave as it came. */
export interface Held {
  readonly chunk: JsonObject;
  readonly data: string | undefined;
}

export function createChoice(index: number, isPartialName: (name: string) => boolean, shape: AnswerShape): Choice {
  return {
    index,
    isPartialName,
    started: false,
    ended: false,
    meaning: undefined,
    held: undefined,
    hasText: false,
    hasReasoning: false,
    messageTexts: new Map(),
    calls: [],
    functionName: false,
    functionCall: false,
    halves: new Map(),
    pass: shape.pass?.(),
    unrepeat: shape.cumulative === true ? createUnrepeat() : undefined,
  };
}

export function broughtBy(choice: Choice, shape: AnswerShape): Brought {
  return {
    calls: choice.calls.length > 0,
    functionCall: choice.functionCall,
    text: choice.hasText,
    namedTool: shape.namedTool,
  };
}

/** Notes a call, or more of one, that has left as it came. */
export function noteCleanCall(wire: JsonObject, choice: Choice): void {
  const index = wire["index"] as number;
  const body = wire["function"] as JsonObject;
  const args = typeof body["arguments"] === "string" ? body["arguments"] : "";
  const open = choice.calls[index];
  if (open !== undefined) open.args += args;
  else {
    const id = wire["id"] as string;
    choice.calls.push({
      upstreamIndex: index,
      upstreamId: id,
      id,
      type: "function",
      name: body["name"] as string,
      args,
      waiting: "",
      out: index,
    });
  }
}
