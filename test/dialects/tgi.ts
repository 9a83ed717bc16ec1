// 3.x, from its source: no space behind `data:`, an empty id, the role in each chunk, all calls at index 0 with their id in each
// delta, arguments as an object, tool calls that end with `stop`.
import { CREATED, halves, FAILURE, MODEL, logprobAt, REFUSAL, textOf, usage, type Dialect } from "./dialect.ts";

const head = {
  object: "chat.completion.chunk",
  id: "",
  created: CREATED,
  model: MODEL,
  system_fingerprint: "3.3.6-native",
};
const data = (value: unknown): string => `data:${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish: string | null = null, logprobs: object | null = null): string =>
  data({
    ...head,
    choices: [{ index: 0, delta: { role: "assistant", ...delta }, logprobs, finish_reason: finish }],
    usage: null,
  });
const tokens = (text: readonly string[]): object => ({
  content: text.map((token, at) => ({
    token,
    logprob: logprobAt(at),
    top_logprobs: [
      { token, logprob: logprobAt(at) },
      { token: "Ho", logprob: -7 },
    ],
  })),
});

export const tgi: Dialect = {
  provider: "tgi",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: false,
  stream: ({ choices: [saying = {}], logprobs, usage: wanted }) => {
    const { text = [], calls } = saying;
    const call = (id: string, name: string | null, args: string): string =>
      chunk({ tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: args } }] });
    return [
      ": \n\n",
      ...text.map((piece, at) => {
        const told = tokens(text.slice(0, at + 1)) as { content: object[] };
        return chunk({ content: piece }, null, logprobs ? { content: told.content.slice(at) } : null);
      }),
      ...(calls ?? []).flatMap(({ name, args }, at) => [
        call(String(at), name, ""),
        ...halves(args).map((piece) => call(String(at), null, piece)),
      ]),
      chunk({ content: "" }, calls ? "stop" : "stop_sequence"),
      wanted ? data({ ...head, choices: [], usage: usage() }) : "",
      "data:[DONE]\n\n",
    ].join("");
  },
  whole: ({ choices: [saying = {}], logprobs }) =>
    JSON.stringify({
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: saying.calls
            ? {
                role: "assistant",
                tool_calls: saying.calls.map(({ name, args }, at) => ({
                  id: String(at),
                  type: "function",
                  function: { description: null, name, arguments: JSON.parse(args) as unknown },
                })),
              }
            : { role: "assistant", content: textOf(saying) },
          logprobs: logprobs ? tokens(saying.text ?? []) : null,
          finish_reason: "stop",
        },
      ],
      usage: usage(),
    }),
  refusal: { status: 422, body: JSON.stringify({ error: REFUSAL, error_type: "validation" }) },
  failure: `${data({ error: { message: FAILURE, http_status_code: 424 } })}data:[DONE]\n\n`,
  failureWords: FAILURE,
};
