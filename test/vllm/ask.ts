import { APIError, type OpenAI } from "openai";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
} from "openai/resources/chat/completions";
import { newClient, serverOf, viaGateway } from "./client.ts";
import type { Body } from "./say.ts";

export type Mode = "whole" | "streamed";
export const modes: readonly Mode[] = ["whole", "streamed"];

export interface Way {
  readonly model: string;
  readonly mode: Mode;
}

/** The same server, asked in every way: as the client asks, never by stream, always by stream. */
export const ways: readonly Way[] = (viaGateway ? ["tiny", "tiny-reframed", "tiny-aggregated"] : ["tiny"]).flatMap(
  (model) => modes.map((mode) => ({ model, mode })),
);

export interface Answer {
  readonly completion: ChatCompletion;
  /** None when whole. */
  readonly chunks: readonly ChatCompletionChunk[];
  /** By choice index; the client's own accumulation keeps only the last piece of a field that it does not know. */
  readonly reasoning: ReadonlyMap<number, string>;
}

export function bodyFor(model: string, body: Body): ChatCompletionCreateParamsNonStreaming {
  return {
    messages: [{ role: "user", content: "hi" }],
    ...(body as Partial<ChatCompletionCreateParamsNonStreaming>),
    model,
  };
}

export async function ask(way: Way, body: Body, client: OpenAI = newClient(serverOf(way.model))): Promise<Answer> {
  const model = viaGateway ? way.model : "tiny";
  if (way.mode === "whole") {
    const completion = await client.chat.completions.create(bodyFor(model, body));
    return {
      completion,
      chunks: [],
      reasoning: reasoningOf(completion.choices.map(({ index, message }) => ({ index, said: message }))),
    };
  }
  const chunks: ChatCompletionChunk[] = [];
  const stream = client.chat.completions.stream({
    ...bodyFor(model, body),
    stream: true,
    stream_options: { include_usage: true },
  });
  // The helper goes on adding to the objects that it hands over.
  stream.on("chunk", (chunk) => chunks.push(structuredClone(chunk)));
  const completion = await stream.finalChatCompletion();
  const said = chunks.flatMap(({ choices }) => choices.map(({ index, delta }) => ({ index, said: delta })));
  return { completion, chunks, reasoning: reasoningOf(said) };
}

function reasoningOf(pieces: readonly { readonly index: number; readonly said: object }[]): Map<number, string> {
  const reasoning = new Map<number, string>();
  for (const { index, said } of pieces) {
    const { reasoning: text, reasoning_content: older } = said as {
      reasoning?: string | null;
      reasoning_content?: string | null;
    };
    const piece = text ?? older;
    if (typeof piece === "string") reasoning.set(index, (reasoning.get(index) ?? "") + piece);
  }
  return reasoning;
}

/** The answer's meaning, which no way of asking may change. */
export interface Gist {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish: string;
}

export function gist({ completion, reasoning }: Answer): Gist[] {
  return completion.choices.map(({ index, message, finish_reason }) => ({
    content: message.content ?? "",
    reasoning: reasoning.get(index) ?? "",
    calls: (message.tool_calls ?? []).map((call) =>
      call.type === "function"
        ? { name: call.function.name, arguments: call.function.arguments }
        : { name: call.type, arguments: "" },
    ),
    finish: finish_reason,
  }));
}

/** Sends a body that no type would allow, and gives the error that the client makes of the answer. */
export async function refusal(
  model: string,
  mode: Mode,
  body: object,
  client: OpenAI = newClient(serverOf(model)),
): Promise<APIError> {
  const full = {
    messages: [{ role: "user", content: "hi" }],
    ...body,
    model: viaGateway ? model : "tiny",
    ...(mode === "streamed" ? { stream: true } : {}),
  };
  try {
    const response = await client.post("/chat/completions", { body: full }).asResponse();
    throw new Error(`expected an error, got ${response.status}: ${(await response.text()).slice(0, 500)}`);
  } catch (error) {
    if (error instanceof APIError) return error;
    throw error;
  }
}
