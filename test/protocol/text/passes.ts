import { createTextPass, type TextPassOptions } from "../../../src/protocol/text/pass.ts";
import type { JsonObject } from "../../../src/protocol/json/lossless.ts";
import type { FinishReason } from "../../../src/protocol/chat/types.ts";

export interface Answer {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown; readonly id?: string }[];
  readonly finish: FinishReason;
}

/** What one choice says when its text comes in these pieces. */
export function answerOf(
  pieces: readonly string[],
  options: Partial<TextPassOptions>,
  finish: FinishReason = "stop",
): Answer {
  const pass = createTextPass({
    toolFamily: "none",
    reasoningFamily: "none",
    tools: [],
    toolChoice: "auto",
    parallel: true,
    model: "",
    ...options,
  });
  const deltas: JsonObject[] = pieces.flatMap((content) => pass.take({ content }));
  const end = pass.end(finish);
  deltas.push(...end.deltas);
  const calls = deltas.flatMap((delta) => (delta["tool_calls"] as JsonObject[] | undefined) ?? []);
  return {
    content: deltas.map((delta) => (delta["content"] as string | undefined) ?? "").join(""),
    reasoning: deltas.map((delta) => (delta["reasoning"] as string | undefined) ?? "").join(""),
    calls: calls.map((call) => {
      const body = call["function"] as { name: string; arguments: string };
      const id = call["id"] as string | undefined;
      return { name: body.name, args: JSON.parse(body.arguments) as unknown, ...(id === undefined ? {} : { id }) };
    }),
    finish: end.finish,
  };
}

/** The text whole, letter by letter, and cut in two at every place. */
export function everySplit(text: string): string[][] {
  const splits: string[][] = [[text], text.split("")];
  for (let at = 1; at < text.length; at++) splits.push([text.slice(0, at), text.slice(at)]);
  return splits;
}

/** The one answer to all splits of a text; throws where two differ. */
export function sameAnswer(text: string, options: Partial<TextPassOptions>, finish: FinishReason = "stop"): Answer {
  const whole = answerOf([text], options, finish);
  const spelled = JSON.stringify(whole);
  for (const pieces of everySplit(text)) {
    const other = JSON.stringify(answerOf(pieces, options, finish));
    if (other !== spelled)
      throw new Error(`cut ${JSON.stringify(pieces.map((piece) => piece.length))}: ${other} instead of ${spelled}`);
  }
  return whole;
}
