// From its documentation: logprobs as one number a chunk, whole as lists in step; `eos` as a finish; usage on the finish chunk.
import {
  CREATED,
  data,
  DONE,
  FAILURE,
  halves,
  logprobAt,
  MODEL,
  REFUSAL,
  textOf,
  usage,
  type Dialect,
} from "./dialect.ts";

const head = { id: "nzJ4Qkz-4yUbBN-95e0c9c8bd4f", object: "chat.completion.chunk", created: CREATED };

export const together: Dialect = {
  provider: "together",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: true,
  stream: ({ choices, logprobs }) => {
    const chunk = (index: number, delta: object, told: number | null = null, finish: string | null = null): string => {
      const last = finish !== null && index === choices.length - 1;
      const choice = {
        index,
        text: "",
        logprobs: told,
        finish_reason: finish,
        seed: finish ? 17_233_419 : null,
        delta,
      };
      return data({ ...head, choices: [choice], model: MODEL, usage: last ? usage() : null });
    };
    const said = choices.map(({ reasoning, text = [], calls }, index) => [
      chunk(index, { token_id: null, role: "assistant", content: "" }),
      ...(reasoning === undefined ? [] : halves(reasoning)).map((piece) =>
        chunk(index, { role: "assistant", content: "", reasoning: piece }),
      ),
      ...text.map((piece, at) =>
        chunk(
          index,
          { token_id: 40 + at, role: "assistant", content: piece, tool_calls: null },
          logprobs ? logprobAt(at) : null,
        ),
      ),
      ...(calls ?? []).flatMap(({ id, name, args }, at) => [
        chunk(index, {
          role: "assistant",
          content: null,
          tool_calls: [{ index: at, id, type: "function", function: { name, arguments: "" } }],
        }),
        ...halves(args).map((piece) =>
          chunk(index, {
            role: "assistant",
            content: null,
            tool_calls: [{ index: at, function: { arguments: piece } }],
          }),
        ),
      ]),
      chunk(index, { token_id: 151_645, role: "assistant", content: "" }, null, calls ? "tool_calls" : "eos"),
    ]);
    return said.flat().join("") + DONE;
  },
  whole: ({ choices, logprobs }) =>
    JSON.stringify({
      id: head.id,
      object: "chat.completion",
      created: CREATED,
      model: MODEL,
      prompt: [],
      choices: choices.map((saying, index) => ({
        finish_reason: saying.calls ? "tool_calls" : "eos",
        seed: 17_233_419,
        logprobs: logprobs
          ? {
              token_ids: saying.text?.map((_, at) => 40 + at),
              tokens: saying.text,
              token_logprobs: saying.text?.map((_, at) => logprobAt(at)),
            }
          : null,
        index,
        message: {
          role: "assistant",
          content: saying.calls ? null : textOf(saying),
          tool_calls:
            saying.calls?.map(({ id, name, args }, at) => ({
              index: at,
              id,
              type: "function",
              function: { name, arguments: args },
            })) ?? [],
          ...(saying.reasoning && { reasoning: saying.reasoning }),
        },
      })),
      usage: usage({ cached_tokens: 0 }),
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({
      id: "nzJ4Qkz",
      error: { message: REFUSAL, type: "invalid_request_error", param: "temperature", code: null },
    }),
  },
  failure: data({ id: head.id, error: { message: FAILURE, type: "server_error", param: null, code: null } }),
  failureWords: FAILURE,
};
