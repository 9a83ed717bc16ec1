import type { Completion, CompletionCreateParamsNonStreaming } from "openai/resources/completions";
import type { Way } from "./ask.ts";
import { newClient, serverOf, viaGateway } from "./client.ts";
import type { Body } from "./say.ts";

export type TextBody = Omit<Partial<CompletionCreateParamsNonStreaming>, "prompt" | "model" | "stream"> &
  Pick<Body, "structured_outputs" | "allowed_token_ids" | "stop_token_ids"> & {
    readonly prompt: CompletionCreateParamsNonStreaming["prompt"];
  };

/** A choice of a text completion, put together. */
export interface TextChoice {
  readonly text: string;
  readonly finish: string | null;
  readonly tokens: readonly string[];
  readonly logprobs: readonly (number | null)[];
  readonly alternatives: readonly (Readonly<Record<string, number>> | null)[];
  readonly offsets: readonly number[];
}

export interface TextAnswer {
  readonly choices: readonly TextChoice[];
  readonly usage: Completion["usage"];
  readonly chunks: readonly Completion[];
}

/** Asks `/v1/completions` by the official client; a stream is put together. */
export async function askText(way: Way, body: TextBody): Promise<TextAnswer> {
  const client = newClient(serverOf(way.model));
  const full = { ...body, model: viaGateway ? way.model : "tiny" } as CompletionCreateParamsNonStreaming;
  if (way.mode === "whole") return told([await client.completions.create(full)], []);
  const chunks: Completion[] = [];
  const stream = await client.completions.create({ ...full, stream: true, stream_options: { include_usage: true } });
  for await (const chunk of stream) chunks.push(chunk);
  return told(chunks, chunks);
}

/** What the bodies say together: one of them, or all the chunks of a stream. */
export function told(bodies: readonly Completion[], chunks: readonly Completion[]): TextAnswer {
  const parts = bodies.flatMap(({ choices }) => choices);
  const indexes = [...new Set(parts.map(({ index }) => index))].toSorted((a, b) => a - b);
  const choices = indexes.map((index) => {
    const own = parts.filter((part) => part.index === index);
    const logprobs = own.flatMap((part) => (part.logprobs ? [part.logprobs] : []));
    return {
      text: own.map(({ text }) => text).join(""),
      finish: own.findLast(({ finish_reason }) => finish_reason)?.finish_reason ?? null,
      tokens: logprobs.flatMap(({ tokens = [] }) => tokens),
      logprobs: logprobs.flatMap(({ token_logprobs = [] }) => token_logprobs),
      alternatives: logprobs.flatMap(({ top_logprobs = [] }) => top_logprobs),
      offsets: logprobs.flatMap(({ text_offset = [] }) => text_offset),
    };
  });
  return { choices, usage: bodies.findLast(({ usage }) => usage)?.usage, chunks };
}
