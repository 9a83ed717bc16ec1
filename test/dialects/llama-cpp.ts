// Release 11434, as it was recorded, with the `error:` field of releases before mid-2025: an order of keys of its own, choices
// that begin in any order and count for themselves.
import {
  ANSWER_TOKENS,
  CREATED,
  data,
  DONE,
  FAILURE,
  halves,
  MODEL,
  PROMPT_TOKENS,
  REFUSAL,
  textOf,
  token,
  type Dialect,
} from "./dialect.ts";

const tail = {
  created: CREATED,
  id: "chatcmpl-BUQUKTiI0jVLuIRsm3GC1KlLIaPfkWkB",
  model: MODEL,
  system_fingerprint: "b0-unknown",
};
const TIMINGS = { cache_n: 20, prompt_n: 1, prompt_ms: 0.42, predicted_n: 4, predicted_per_second: 4838.709677419355 };

const chunk = (index: number, delta: object, finish: string | null = null, more: object = {}): string =>
  data({ choices: [{ finish_reason: finish, index, delta, ...more }], ...tail, object: "chat.completion.chunk" });

const counts = (choices: number): object => {
  const completion = ANSWER_TOKENS / choices;
  return {
    completion_tokens: completion,
    prompt_tokens: PROMPT_TOKENS,
    total_tokens: PROMPT_TOKENS + completion,
    prompt_tokens_details: { cached_tokens: 0 },
  };
};

export const llamaCpp: Dialect = {
  provider: "llama-cpp",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: true,
  stream: ({ choices, logprobs, usage: wanted }) => {
    const said = choices.map(({ reasoning, text = [], calls }, index) =>
      [
        chunk(index, { role: "assistant", content: null }),
        ...(reasoning === undefined
          ? []
          : halves(reasoning).map((piece) => chunk(index, { reasoning_content: piece }))),
        ...text.map((piece, at) =>
          chunk(
            index,
            { content: piece },
            null,
            logprobs ? { logprobs: { content: [{ id: at, ...token(piece, at) }] } } : {},
          ),
        ),
        ...(calls ?? []).flatMap(({ id, name, args }, at) => {
          const named = { index: at, id, type: "function", function: { name, arguments: "" } };
          return [
            chunk(index, { tool_calls: [named] }),
            ...halves(args).map((piece) =>
              chunk(index, { tool_calls: [{ index: at, function: { arguments: piece } }] }),
            ),
          ];
        }),
        chunk(index, {}, calls ? "tool_calls" : "stop"),
        wanted
          ? data({
              choices: [],
              ...tail,
              object: "chat.completion.chunk",
              usage: counts(choices.length),
              timings: TIMINGS,
            })
          : "",
      ].join(""),
    );
    // The slots know no order.
    return said.toReversed().join("") + DONE;
  },
  whole: ({ choices, logprobs }) =>
    JSON.stringify({
      choices: choices.map((saying, index) => ({
        finish_reason: saying.calls ? "tool_calls" : "stop",
        index,
        message: {
          role: "assistant",
          ...(saying.reasoning === undefined ? {} : { reasoning_content: saying.reasoning }),
          content: saying.calls ? "" : textOf(saying),
          ...(saying.calls && {
            tool_calls: saying.calls.map(({ id, name, args }) => ({
              type: "function",
              function: { name, arguments: args },
              id,
            })),
          }),
        },
        ...(logprobs && { logprobs: { content: saying.text?.map((piece, at) => ({ id: at, ...token(piece, at) })) } }),
      })),
      ...tail,
      object: "chat.completion",
      usage: counts(choices.length),
      timings: TIMINGS,
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({ error: { code: 400, message: REFUSAL, type: "invalid_request_error" } }),
  },
  failure: `error: ${JSON.stringify({ code: 500, message: FAILURE, type: "server_error" })}\n\n`,
  failureWords: FAILURE,
};
