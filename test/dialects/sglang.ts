// From its source of 2026: all nulls in each delta, another `created` in each chunk, flat errors.
import { CREATED, data, DONE, FAILURE, halves, MODEL, REFUSAL, textOf, token, usage, type Dialect } from "./dialect.ts";

const id = "5b8cf6a9d6c1470d8a0d0f0a2a9c0a11";
const nothing = { role: null, content: null, reasoning_content: null, tool_calls: null };

export const sglang: Dialect = {
  provider: "sglang",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: true,
  stream: ({ choices, logprobs, usage: wanted }) => {
    let created = CREATED;
    const head = (): object => ({ id, object: "chat.completion.chunk", created: created++, model: MODEL });
    const chunk = (index: number, delta: object, more: object = {}): string =>
      data({
        ...head(),
        choices: [
          { index, delta: { ...nothing, ...delta }, logprobs: null, finish_reason: null, matched_stop: null, ...more },
        ],
        usage: null,
      });
    const call = (at: number, id: string | null, name: string | null, args: string): object => ({
      tool_calls: [{ id, index: at, type: "function", function: { name, arguments: args } }],
    });
    const said = choices.map(({ reasoning, text = [], calls }, index) => [
      chunk(index, { role: "assistant", content: "" }),
      ...(reasoning === undefined ? [] : halves(reasoning).map((piece) => chunk(index, { reasoning_content: piece }))),
      ...text.map((piece, at) =>
        chunk(index, { content: piece }, logprobs ? { logprobs: { content: [token(piece, at)] } } : {}),
      ),
      ...(calls ?? []).flatMap(({ id, name, args }, at) => [
        chunk(index, call(at, id, name, "")),
        ...halves(args).map((piece) => chunk(index, call(at, null, null, piece))),
      ]),
      chunk(index, {}, { finish_reason: calls ? "tool_calls" : "stop", matched_stop: 151645 }),
    ]);
    const counts = usage({ prompt_tokens_details: null, reasoning_tokens: 2 });
    return [...said.flat(), wanted ? data({ ...head(), choices: [], usage: counts }) : "", DONE].join("");
  },
  whole: ({ choices, logprobs }) =>
    JSON.stringify({
      id,
      object: "chat.completion",
      created: CREATED,
      model: MODEL,
      choices: choices.map((saying, index) => ({
        index,
        message: {
          role: "assistant",
          content: saying.calls ? null : textOf(saying),
          reasoning_content: saying.reasoning ?? null,
          tool_calls:
            saying.calls?.map(({ id, name, args }, at) => ({
              id,
              index: at,
              type: "function",
              function: { name, arguments: args },
            })) ?? null,
        },
        logprobs: logprobs ? { content: saying.text?.map(token) } : null,
        finish_reason: saying.calls ? "tool_calls" : "stop",
        matched_stop: 151645,
      })),
      usage: usage({ prompt_tokens_details: null, reasoning_tokens: 2 }),
      metadata: { weight_version: "default" },
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({ object: "error", message: REFUSAL, type: "Bad Request", param: "temperature", code: 400 }),
  },
  failure:
    data({ error: { object: "error", message: FAILURE, type: "InternalServerError", param: null, code: 500 } }) + DONE,
  failureWords: FAILURE,
};
