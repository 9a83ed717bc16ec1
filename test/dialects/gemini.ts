// From its documentation and what was reported: whole calls without index, with empty ids, ended by `stop`; usage on each chunk;
// errors as a list of one.
import { CREATED, data, DONE, FAILURE, MODEL, REFUSAL, textOf, usage, type Call, type Dialect } from "./dialect.ts";

const tail = { created: CREATED, id: "Dk3faPrTOO-sxs0Pt9eBkA8", model: MODEL };
const chunk = (index: number, delta: object, more: object = {}): string =>
  data({
    choices: [{ delta: { ...delta, role: "assistant" }, index, ...more }],
    ...tail,
    object: "chat.completion.chunk",
    usage: usage(),
  });
const call = ({ name, args }: Call): object => ({ function: { arguments: args, name }, id: "", type: "function" });

export const gemini: Dialect = {
  provider: "gemini",
  path: "/v1beta/openai/chat/completions",
  keyHeader: "authorization",
  thinks: false,
  stream: ({ choices }) =>
    choices
      .flatMap(({ text = [], calls }, index) =>
        calls
          ? [chunk(index, { tool_calls: calls.map(call) }, { finish_reason: "stop" })]
          : text.map((piece, at) =>
              chunk(index, { content: piece }, at === text.length - 1 ? { finish_reason: "stop" } : {}),
            ),
      )
      .join("") + DONE,
  whole: ({ choices }) =>
    JSON.stringify({
      choices: choices.map((saying, index) => ({
        finish_reason: "stop",
        index,
        message: saying.calls
          ? { role: "assistant", tool_calls: saying.calls.map(call) }
          : { content: textOf(saying), role: "assistant" },
      })),
      ...tail,
      object: "chat.completion",
      usage: usage(),
    }),
  refusal: {
    status: 400,
    body: JSON.stringify([{ error: { code: 400, message: REFUSAL, status: "INVALID_ARGUMENT" } }]),
  },
  failure: data([{ error: { code: 503, message: FAILURE, status: "UNAVAILABLE" } }]),
  failureWords: FAILURE,
};
