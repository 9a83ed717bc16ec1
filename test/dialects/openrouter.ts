// From its documentation: comments while the request waits, two words for each finish, usage beside a choice after the finish, and
// failures that carry a choice.
import { CREATED, data, DONE, FAILURE, halves, MODEL, REFUSAL, textOf, token, usage, type Dialect } from "./dialect.ts";

const head = {
  id: "gen-1790000000-AbCdEfGh",
  provider: "Somebody",
  model: MODEL,
  object: "chat.completion.chunk",
  created: CREATED,
};

const chunk = (
  delta: object,
  finish: [string, string] | [] = [],
  logprobs: object | null = null,
  more: object = {},
): string =>
  data({
    ...head,
    choices: [
      {
        index: 0,
        delta: { role: "assistant", content: "", ...delta },
        finish_reason: finish[0] ?? null,
        native_finish_reason: finish[1] ?? null,
        logprobs,
      },
    ],
    ...more,
  });
const details = (text: string): object[] => [{ type: "reasoning.text", text, format: "unknown", index: 0 }];
const waiting = ": OPENROUTER PROCESSING\n\n";

export const openrouter: Dialect = {
  provider: "openrouter",
  path: "/api/v1/chat/completions",
  keyHeader: "authorization",
  thinks: true,
  stream: ({ choices: [saying = {}], logprobs }) => {
    const { reasoning, text = [], calls } = saying;
    return [
      waiting,
      ...(reasoning === undefined ? [] : halves(reasoning)).map((piece) =>
        chunk({ reasoning: piece, reasoning_details: details(piece) }),
      ),
      waiting,
      ...text.map((piece, at) =>
        chunk({ content: piece }, [], logprobs ? { content: [token(piece, at)], refusal: null } : null),
      ),
      ...(calls ?? []).flatMap(({ id, name, args }, index) => [
        chunk({ content: null, tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...halves(args).map((piece) =>
          chunk({
            content: null,
            tool_calls: [{ index, type: "function", function: { name: null, arguments: piece } }],
          }),
        ),
      ]),
      chunk({}, calls ? ["tool_calls", "tool_use"] : ["stop", "end_turn"]),
      chunk({}, [], null, { usage: usage({ cost: 0.00014, is_byok: false }) }),
      DONE,
    ].join("");
  },
  whole: ({ choices: [saying = {}], logprobs }) =>
    JSON.stringify({
      ...head,
      object: "chat.completion",
      choices: [
        {
          logprobs: logprobs ? { content: saying.text?.map(token), refusal: null } : null,
          finish_reason: saying.calls ? "tool_calls" : "stop",
          native_finish_reason: saying.calls ? "tool_use" : "end_turn",
          index: 0,
          message: {
            role: "assistant",
            content: textOf(saying),
            refusal: null,
            reasoning: saying.reasoning ?? null,
            ...(saying.reasoning && { reasoning_details: details(saying.reasoning) }),
            ...(saying.calls && {
              tool_calls: saying.calls.map(({ id, name, args }, index) => ({
                index,
                id,
                type: "function",
                function: { name, arguments: args },
              })),
            }),
          },
        },
      ],
      usage: usage({ cost: 0.00014, is_byok: false }),
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          raw: JSON.stringify({ error: { message: REFUSAL, param: "temperature" } }),
          provider_name: "Somebody",
        },
      },
      user_id: "user_2abc",
    }),
  },
  failure: data({
    ...head,
    error: { code: 502, message: FAILURE },
    choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
  }),
  failureWords: FAILURE,
};
