// As its documentation and its live API have it: what the others are held to.
import {
  CREATED,
  data,
  DONE,
  FAILURE,
  halves,
  MODEL,
  REFUSAL,
  textOf,
  token,
  usage,
  type Dialect,
  type Scene,
} from "./dialect.ts";

const id = "chatcmpl-CabcDEFghijklmNOPQRstuvWXyz12";

/** Also what Azure sends, but for what it puts into each choice. */
export function openaiStream({ choices, logprobs, usage: wanted }: Scene, inChoice: object, inChunk: object): string {
  const head = {
    id,
    object: "chat.completion.chunk",
    created: CREATED,
    model: MODEL,
    system_fingerprint: "fp_44709d6fcb",
  };
  const chunk = (index: number, delta: object, finish: string | null = null, told: object | null = null): string =>
    data({
      ...head,
      choices: [{ index, delta, logprobs: told, finish_reason: finish, ...inChoice }],
      ...(wanted ? { usage: null } : {}),
      ...inChunk,
    });
  const said = choices.map(({ text = [], calls }, index) => [
    ...(calls ? [] : [chunk(index, { role: "assistant", content: "", refusal: null })]),
    ...text.map((piece, at) =>
      chunk(index, { content: piece }, null, logprobs ? { content: [token(piece, at)], refusal: null } : null),
    ),
    ...(calls ?? []).flatMap(({ id, name, args }, at) => {
      const opening = { tool_calls: [{ index: at, id, type: "function", function: { name, arguments: "" } }] };
      return [
        chunk(index, at === 0 ? { role: "assistant", content: null, ...opening, refusal: null } : opening),
        ...halves(args).map((piece) => chunk(index, { tool_calls: [{ index: at, function: { arguments: piece } }] })),
      ];
    }),
    chunk(index, {}, calls ? "tool_calls" : "stop"),
  ]);
  return [...said.flat(), wanted ? data({ ...head, choices: [], usage: usage(), ...inChunk }) : "", DONE].join("");
}

export function openaiWhole({ choices, logprobs }: Scene, inChoice: object, inBody: object): string {
  return JSON.stringify({
    id,
    object: "chat.completion",
    created: CREATED,
    model: MODEL,
    choices: choices.map((saying, index) => ({
      index,
      message: {
        role: "assistant",
        content: saying.calls ? null : textOf(saying),
        ...(saying.calls && {
          tool_calls: saying.calls.map(({ id, name, args }) => ({
            id,
            type: "function",
            function: { name, arguments: args },
          })),
        }),
        refusal: null,
        annotations: [],
      },
      logprobs: logprobs ? { content: saying.text?.map(token), refusal: null } : null,
      finish_reason: saying.calls ? "tool_calls" : "stop",
      ...inChoice,
    })),
    usage: usage({ completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0 } }),
    ...inBody,
  });
}

export const openai: Dialect = {
  provider: "openai",
  path: "/v1/chat/completions",
  keyHeader: "authorization",
  thinks: false,
  stream: (scene) => openaiStream(scene, {}, { service_tier: "default", obfuscation: "aB3" }),
  whole: (scene) => openaiWhole(scene, {}, { service_tier: "default", system_fingerprint: null }),
  refusal: {
    status: 400,
    body: JSON.stringify({
      error: { message: REFUSAL, type: "invalid_request_error", param: "temperature", code: "invalid_value" },
    }),
  },
  failure: data({ error: { message: FAILURE, type: "server_error", param: null, code: null } }),
  failureWords: FAILURE,
};
