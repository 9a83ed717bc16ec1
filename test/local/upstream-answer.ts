import { isRecord } from "./sample-arguments.ts";
import { textOf, words, type Answer, type ChatRequest } from "./upstream-models.ts";

// A fixed time: the same request gets the same bytes.
const created = 1_700_000_000;

/** The answer as one `chat.completion`. */
export function whole(id: string, request: ChatRequest, answer: Answer): unknown {
  const choices = indexes(request).map((index) => ({
    index,
    message: {
      role: "assistant",
      content: answer.calls.length > 0 ? null : answer.content.join(""),
      ...(answer.reasoning.length > 0 ? { reasoning_content: answer.reasoning.join("") } : {}),
      ...(answer.calls.length > 0 ? { tool_calls: answer.calls } : {}),
    },
    logprobs: logprobs(request, answer.content),
    finish_reason: answer.finish,
  }));
  return { id, object: "chat.completion", created, model: request.model, choices, usage: usage(request, answer) };
}

/** The answer as a list of `chat.completion.chunk`, one a token. */
export function events(id: string, request: ChatRequest, answer: Answer): unknown[] {
  const withUsage = isRecord(request["stream_options"]) && request["stream_options"]["include_usage"] === true;
  const deltas: { delta: unknown; token?: string; finish?: string }[] = [
    { delta: { role: "assistant", content: "" } },
    ...answer.reasoning.map((token) => ({ delta: { reasoning_content: token } })),
    ...answer.content.map((token) => ({ delta: { content: token }, token })),
    ...answer.calls.flatMap((call, index) => [
      { delta: { tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] } },
      ...pieces(call.function.arguments).map((piece) => ({
        delta: { tool_calls: [{ index, function: { arguments: piece } }] },
      })),
    ]),
    { delta: {}, finish: answer.finish },
  ];
  const chunk = { id, object: "chat.completion.chunk", created, model: request.model };
  const chunks: unknown[] = deltas.flatMap(({ delta, token, finish }) =>
    indexes(request).map((index) => ({
      ...chunk,
      choices: [
        {
          index,
          delta,
          logprobs: token === undefined ? null : logprobs(request, [token]),
          finish_reason: finish ?? null,
        },
      ],
      ...(withUsage ? { usage: null } : {}),
    })),
  );
  return withUsage ? [...chunks, { ...chunk, choices: [], usage: usage(request, answer) }] : chunks;
}

function indexes(request: ChatRequest): number[] {
  const n = request["n"];
  return Array.from({ length: typeof n === "number" ? Math.min(Math.max(1, n), 128) : 1 }, (_, index) => index);
}

function pieces(text: string): string[] {
  return text.match(/.{1,8}/gsu) ?? [];
}

function logprobs(request: ChatRequest, tokens: readonly string[]): unknown {
  if (request["logprobs"] !== true) return null;
  const top = typeof request["top_logprobs"] === "number" ? request["top_logprobs"] : 0;
  const content = tokens.map((token) => {
    const entry = { token, logprob: -0.25, bytes: [...Buffer.from(token)] };
    return { ...entry, top_logprobs: top > 0 ? [entry] : [] };
  });
  return { content, refusal: null };
}

function usage(request: ChatRequest, answer: Answer): unknown {
  const prompt = request.messages.reduce((sum, message) => sum + words(textOf(message)).length, 0);
  const called = answer.calls.reduce((sum, call) => sum + pieces(call.function.arguments).length, 0);
  const completion = (answer.reasoning.length + answer.content.length + called) * indexes(request).length;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
