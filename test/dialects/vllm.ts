// 0.32, as it was recorded: nulls beside calls, a call begins without arguments, vendor members everywhere.
import { CREATED, data, DONE, FAILURE, halves, MODEL, REFUSAL, spaced, token, usage, type Dialect } from "./dialect.ts";

const head = { id: "chatcmpl-8bb78a63dd9e12b4", object: "chat.completion.chunk", created: CREATED, model: MODEL };
const FINGERPRINT = "vllm-0.32.0-08f09831";
const DETAILS = {
  prompt_tokens_details: { cached_tokens: 0, created_cache_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

const chunk = (index: number, delta: object, logprobs: unknown = null): string =>
  data({ ...head, choices: [{ index, delta, logprobs, finish_reason: null, token_ids: null }] });

export const vllm: Dialect = {
  provider: "vllm",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: true,
  stream: ({ choices, logprobs, usage: wanted }) => {
    const roles = choices.map((_, index) =>
      data({
        ...head,
        choices: [{ index, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null }],
        prompt_token_ids: null,
        prompt_text: null,
      }),
    );
    const said = choices.map(({ reasoning, text = [], calls = [] }, index) => [
      ...(reasoning === undefined ? [] : halves(reasoning).map((piece) => chunk(index, { reasoning: piece }))),
      ...text.map((piece, at) => chunk(index, { content: piece }, logprobs ? { content: [token(piece, at)] } : null)),
      ...calls.flatMap(({ id, name, args }, at) => [
        chunk(index, { content: null, tool_calls: [{ id, type: "function", index: at, function: { name } }] }),
        ...(args === "{}" ? [] : halves(args)).map((piece) =>
          chunk(index, { content: null, tool_calls: [{ index: at, function: { arguments: piece } }] }),
        ),
      ]),
    ]);
    const ends = choices.map(({ calls }, index) =>
      data({
        ...head,
        choices: [
          {
            index,
            delta: {},
            logprobs: null,
            finish_reason: calls ? "tool_calls" : "stop",
            stop_reason: null,
            token_ids: null,
          },
        ],
      }),
    );
    const last = data({ ...head, choices: [], usage: usage(DETAILS), system_fingerprint: FINGERPRINT });
    return [...roles, ...said.flat(), ...ends, wanted ? last : "", DONE].join("");
  },
  whole: ({ choices, logprobs }) =>
    JSON.stringify({
      ...head,
      object: "chat.completion",
      choices: choices.map(({ reasoning = null, text = [], calls }, index) => ({
        index,
        message: {
          role: "assistant",
          content: calls ? null : text.join(""),
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          ...(calls && {
            tool_calls: calls.map(({ id, name, args }) => ({
              id,
              type: "function",
              function: { name, arguments: args },
            })),
          }),
          reasoning,
        },
        logprobs: logprobs ? { content: text.map(token) } : null,
        finish_reason: calls ? "tool_calls" : "stop",
        stop_reason: null,
        token_ids: null,
        routed_experts: null,
      })),
      service_tier: null,
      system_fingerprint: FINGERPRINT,
      usage: usage(DETAILS),
      prompt_logprobs: null,
      prompt_token_ids: null,
      kv_transfer_params: null,
    }),
  refusal: {
    status: 400,
    body: JSON.stringify({ error: { message: REFUSAL, type: "BadRequestError", param: "temperature", code: 400 } }),
  },
  failure: `data: ${spaced({ error: { message: FAILURE, type: "InternalServerError", param: null, code: 500 } })}\n\n${DONE}`,
  failureWords: FAILURE,
};
