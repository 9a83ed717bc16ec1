// From its documentation and its own words: `end_turn` and `tool_use` as finishes, no key for a finish before it, arguments as an
// object, one choice, and failures as events of another name.
import { CREATED, data, DONE, FAILURE, MODEL, halves, REFUSAL, textOf, usage, type Dialect } from "./dialect.ts";

const head = { id: "msg_01XFDUDYJgAACzvnptvVoYEL", created: CREATED, model: MODEL, object: "chat.completion.chunk" };
const chunk = (delta: object, more: object = {}): string => data({ ...head, choices: [{ index: 0, delta, ...more }] });

export const anthropic: Dialect = {
  provider: "anthropic",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: false,
  stream: ({ choices: [saying = {}], usage: wanted }) => {
    const { text = [], calls } = saying;
    return [
      chunk({ content: "", role: "assistant" }),
      'event: ping\ndata: {"type": "ping"}\n\n',
      ...text.map((piece) => chunk({ content: piece })),
      ...(calls ?? []).flatMap(({ id, name, args }, index) => [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...halves(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({}, { finish_reason: calls ? "tool_use" : "end_turn" }),
      wanted ? data({ ...head, choices: [], usage: usage() }) : "",
      DONE,
    ].join("");
  },
  whole: ({ choices: [saying = {}] }) =>
    JSON.stringify({
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: {
            content: textOf(saying),
            role: "assistant",
            ...(saying.calls && {
              tool_calls: saying.calls.map(({ id, name, args }) => ({
                id,
                type: "function",
                function: { name, arguments: JSON.parse(args) as unknown },
              })),
            }),
          },
          finish_reason: saying.calls ? "tool_use" : "end_turn",
        },
      ],
      usage: usage(),
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({
      error: { code: "invalid_request_error", message: REFUSAL, type: "invalid_request_error", param: null },
    }),
  },
  failure: `event: error\n${data({ type: "error", error: { type: "overloaded_error", message: FAILURE } })}`,
  failureWords: FAILURE,
};
