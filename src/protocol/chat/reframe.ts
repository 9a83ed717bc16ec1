import { isObject, type JsonObject } from "../json/lossless.ts";
import { pieces } from "./text.ts";
import type { WireChunk } from "./types.ts";

export interface ReframeOptions {
  /** Whether the client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** How many UTF-16 units of text go into one chunk. */
  readonly pieceLength?: number;
}

/**
 * The chunks of a stream that says what a whole completion says: role, reasoning, content, refusal, calls, finish, usage; the
 * inverse of `aggregate`. @param body a completion that holds to the contract (`conformCompletion`)
 */
export function reframe(body: JsonObject, { includeUsage, pieceLength = 2048 }: ReframeOptions): WireChunk[] {
  const { id, created, model, choices, usage, object: _object, system_fingerprint, service_tier, ...vendor } = body;
  const head: JsonObject = { id, object: "chat.completion.chunk", created, model };
  if (system_fingerprint !== undefined) head["system_fingerprint"] = system_fingerprint;
  if (service_tier !== undefined) head["service_tier"] = service_tier;
  const list: JsonObject[] = (choices as JsonObject[]).flatMap((choice) => choiceChunks(choice, pieceLength));
  const chunks = list.map((choice, i): WireChunk => ({ ...head, choices: [choice], ...(i === 0 ? vendor : {}) }));
  if (includeUsage && isObject(usage)) chunks.push({ ...head, choices: [], usage });
  return chunks;
}

function choiceChunks(choice: JsonObject, pieceLength: number): JsonObject[] {
  const { index, message, logprobs, finish_reason, ...vendor } = choice as JsonObject & { message: JsonObject };
  const { role: _role, content, refusal, reasoning, reasoning_content, tool_calls, function_call, ...rest } = message;
  const wire = (delta: JsonObject, logprobs: JsonObject | null = null): JsonObject => ({
    index,
    delta,
    logprobs,
    finish_reason: null,
  });
  const said = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== undefined));
  const tokens = isObject(logprobs) ? logprobs : {};
  const chunks = [
    wire({ role: "assistant", content: typeof content === "string" ? "" : null, refusal: null, ...said }),
  ];

  const thoughts = reasoning === reasoning_content ? { reasoning, reasoning_content } : undefined;
  for (const spellings of thoughts === undefined ? [{ reasoning }, { reasoning_content }] : [thoughts]) {
    const text = Object.values(spellings)[0];
    if (typeof text !== "string") continue;
    for (const piece of pieces(text, pieceLength)) {
      chunks.push(wire(Object.fromEntries(Object.keys(spellings).map((key) => [key, piece]))));
    }
  }
  chunks.push(...textChunks("content", content, tokens["content"], pieceLength, wire));
  chunks.push(...textChunks("refusal", refusal, tokens["refusal"], pieceLength, wire));
  for (const [at, call] of ((tool_calls ?? []) as JsonObject[]).entries())
    chunks.push(...callChunks(call, at, pieceLength).map((delta) => wire(delta)));
  if (isObject(function_call)) {
    const { arguments: args, ...named } = function_call;
    chunks.push(wire({ function_call: { ...named, arguments: "" } }));
    for (const piece of pieces(args as string, pieceLength)) chunks.push(wire({ function_call: { arguments: piece } }));
  }
  return [...chunks, { index, delta: {}, logprobs: null, finish_reason, ...vendor }];
}

type Wire = (delta: JsonObject, logprobs?: JsonObject | null) => JsonObject;

/** A text in pieces. Where its tokens are known each of them is a piece, with its own logprob; else the first piece has them all. */
function textChunks(
  key: "content" | "refusal",
  text: unknown,
  tokens: unknown,
  pieceLength: number,
  wire: Wire,
): JsonObject[] {
  const logprobs = (list: readonly unknown[]): JsonObject => ({ content: null, refusal: null, [key]: list });
  const known = Array.isArray(tokens) ? (tokens as JsonObject[]) : undefined;
  if (typeof text !== "string") return known === undefined || known.length === 0 ? [] : [wire({}, logprobs(known))];
  if (known !== undefined && known.map((token) => token["token"]).join("") === text) {
    return known.map((token) => wire({ [key]: token["token"] }, logprobs([token])));
  }
  const chunks = pieces(text, pieceLength).map((piece, i) =>
    wire({ [key]: piece }, i === 0 && known !== undefined ? logprobs(known) : null),
  );
  return chunks.length === 0 && known !== undefined && known.length > 0 ? [wire({}, logprobs(known))] : chunks;
}

function callChunks(call: JsonObject, index: number, pieceLength: number): JsonObject[] {
  const type = call["type"] as "function" | "custom";
  const { [type]: body, ...rest } = call;
  const key = type === "custom" ? "input" : "arguments";
  const { [key]: args, ...named } = body as JsonObject;
  const opening = { index, ...rest, [type]: { ...named, [key]: "" } };
  return [opening, ...pieces(args as string, pieceLength).map((piece) => ({ index, [type]: { [key]: piece } }))].map(
    (delta) => ({ tool_calls: [delta] }),
  );
}
