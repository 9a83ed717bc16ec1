// From its source of 2026: the role in each chunk, whole calls in one delta, and a failure that is an empty delta and then nothing.
import { CREATED, data, DONE, halves, MODEL, REFUSAL, textOf, token, usage, type Dialect } from "./dialect.ts";

const head = {
  id: "chatcmpl-417",
  object: "chat.completion.chunk",
  created: CREATED,
  model: MODEL,
  system_fingerprint: "fp_ollama",
};

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  data({ ...head, choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish, ...more }] });

export const ollama: Dialect = {
  provider: "ollama",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: true,
  stream: ({ choices: [saying], logprobs, usage: wanted }) => {
    const { reasoning, text = [], calls } = saying ?? {};
    const called = calls?.map(({ id, name, args }, index) => ({
      id,
      index,
      type: "function",
      function: { name, arguments: args },
    }));
    return [
      ...(reasoning === undefined ? [] : halves(reasoning).map((piece) => chunk({ content: "", reasoning: piece }))),
      ...text.map((piece, at) =>
        chunk({ content: piece }, null, logprobs ? { logprobs: { content: [token(piece, at)] } } : {}),
      ),
      called ? chunk({ content: "", tool_calls: called }) : "",
      chunk({ content: "" }, called ? "tool_calls" : "stop"),
      wanted ? data({ ...head, choices: [], usage: usage() }) : "",
      DONE,
    ].join("");
  },
  whole: ({ choices: [saying = {}], logprobs }) =>
    JSON.stringify({
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: textOf(saying),
            ...(saying.reasoning === undefined ? {} : { reasoning: saying.reasoning }),
            ...(saying.calls && {
              tool_calls: saying.calls.map(({ id, name, args }, index) => ({
                id,
                index,
                type: "function",
                function: { name, arguments: args },
              })),
            }),
          },
          finish_reason: saying.calls ? "tool_calls" : "stop",
          ...(logprobs && { logprobs: { content: saying.text?.map(token) } }),
        },
      ],
      usage: usage(),
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({ error: { message: REFUSAL, type: "invalid_request_error", param: null, code: null } }),
  },
  failure: chunk({ content: "" }),
  failureWords: undefined,
};
