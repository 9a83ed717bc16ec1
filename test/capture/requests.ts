import type { Sent } from "./exchange.ts";

export interface Wanted {
  readonly name: string;
  readonly why: string;
  readonly request: Sent;
}

type Body = Readonly<Record<string, unknown>>;

const authorized = { authorization: "Bearer KEY" };
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city", "days"],
      additionalProperties: false,
    },
  },
};
const clock = {
  type: "function",
  function: { name: "now", description: "The time", parameters: { type: "object", properties: {} } },
};
const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};
const user = (content: string): Body => ({ role: "user", content });
const question = "What is the weather in Oslo and in Bergen, for the next two days? Use the tool.";
const history = [
  user("What time is it?"),
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: { name: "now", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "call_1", content: "12:00" },
];

/** What is worth knowing of any server that speaks OpenAI's language. Each `both` is asked whole and streamed. */
export function standardRequests(model: string): readonly Wanted[] {
  const post = (
    name: string,
    why: string,
    path: string,
    body: Body,
    headers: Sent["headers"] = authorized,
  ): Wanted => ({
    name,
    why,
    request: { method: "POST", path, headers, body: { model, ...body } },
  });
  const both = (name: string, why: string, path: string, body: Body): Wanted[] => [
    post(name, why, path, body),
    post(`${name}-stream`, why, path, { ...body, stream: true, stream_options: { include_usage: true } }),
  ];
  const chat = (name: string, why: string, body: Body): Wanted[] =>
    both(name, why, "/v1/chat/completions", {
      messages: [user("Say hello in three words.")],
      max_tokens: 200,
      ...body,
    });
  const get = (name: string, why: string, path: string, headers: Sent["headers"] = authorized): Wanted => ({
    name,
    why,
    request: { method: "GET", path, headers },
  });
  const tools = { messages: [user(question)], tools: [weather, clock], max_tokens: 400 };
  const named = { type: "function", function: { name: "get_weather" } };

  return [
    get("models", "model cards", "/v1/models"),
    get("auth-none", "no key", "/v1/models", {}),
    get("auth-wrong", "wrong key", "/v1/models", { authorization: "Bearer nope" }),
    get("unknown-path", "404 shape", "/v1/nothing"),
    get("wrong-method", "405 shape", "/v1/chat/completions"),
    ...chat("text", "plain answer", {}),
    ...chat("text-unicode", "characters of several bytes", { messages: [user("Say: Grüße 👋🏽 日本")] }),
    ...chat("text-length", "cut by max_tokens", { max_tokens: 3 }),
    ...chat("text-stop-string", "a stop word", { messages: [user("Count to ten.")], stop: ["4", "four"] }),
    ...chat("text-n2", "two choices", { n: 2 }),
    ...chat("text-logprobs", "logprobs with alternatives", { logprobs: true, top_logprobs: 2, max_tokens: 5 }),
    ...chat("text-temperature0", "greedy", { temperature: 0, seed: 1 }),
    ...chat("text-unknown-fields", "fields that only some servers know", { store: false, top_k: 20, zzz: 1 }),
    ...chat("text-developer", "the developer role", {
      messages: [{ role: "developer", content: "Be short." }, user("Hi")],
    }),
    ...chat("text-parts", "content in parts", {
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    }),
    post("text-no-usage-stream", "stream without usage", "/v1/chat/completions", {
      messages: [user("Hi")],
      max_tokens: 20,
      stream: true,
    }),
    ...chat("json-schema", "response_format json_schema", {
      messages: [user(question)],
      response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
    }),
    ...chat("json-object", "response_format json_object", {
      messages: [user("Answer in JSON: is water wet?")],
      response_format: { type: "json_object" },
    }),
    ...chat("tools-auto", "calls", tools),
    ...chat("tools-parallel-false", "at most one call", { ...tools, parallel_tool_calls: false }),
    ...chat("tools-required", "a call for certain", { ...tools, tool_choice: "required" }),
    ...chat("tools-named", "a call of one function", { ...tools, tool_choice: named }),
    ...chat("tools-none", "tools, but no calls", { ...tools, tool_choice: "none" }),
    ...chat("tools-history", "a history with a call and its result", { messages: history, tools: [clock] }),
    ...both("completion", "legacy completion", "/v1/completions", { prompt: "Once upon", max_tokens: 20 }),
    ...both("completion-list", "two prompts", "/v1/completions", { prompt: ["Once", "Twice"], max_tokens: 5 }),
    ...both("completion-logprobs", "legacy logprobs, echo", "/v1/completions", {
      prompt: "Once upon",
      max_tokens: 5,
      logprobs: 2,
      echo: true,
    }),
    post("embedding", "one text, floats", "/v1/embeddings", { input: "hi" }),
    post("embedding-base64", "two texts, base64", "/v1/embeddings", {
      input: ["hi", "you"],
      encoding_format: "base64",
    }),
    ...chat("error-model", "no such model", { model: "no-such-model" }),
    ...chat("error-temperature", "out of range", { temperature: -1 }),
    ...chat("error-type", "a wrong type", { max_tokens: "many" }),
    ...chat("error-messages-empty", "no messages", { messages: [] }),
    ...chat("error-max-tokens", "longer than any context", { max_tokens: 100_000_000 }),
    {
      name: "error-body-not-json",
      why: "a body that is no JSON",
      request: { method: "POST", path: "/v1/chat/completions", headers: authorized, rawBody: '{"model":' },
    },
  ];
}
