import { argumentsFor, isRecord } from "./sample-arguments.ts";

/** A chat completion request as far as the local models read it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What is said in every choice, one entry a token. */
export interface Answer {
  readonly reasoning: readonly string[];
  readonly content: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls";
}

export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

export interface LocalModel {
  readonly id: string;
  readonly description: string;
  readonly refuse?: (request: ChatRequest) => Refusal | undefined;
  readonly answer?: (request: ChatRequest) => Answer;
  /** Silence between the headers and the first token. */
  readonly silentMs?: number;
  /** What happens in the middle of the answer. */
  readonly breaks?: "cut" | "stall" | "error";
}

/** Text into words that keep the blanks behind them, so that joining them gives the text again. */
export function words(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? [];
}

/** The text of a message, whether `content` is a string or a list of parts. */
export function textOf(message: Readonly<Record<string, unknown>> | undefined): string {
  const content = message?.["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part["text"] === "string" ? part["text"] : "")).join("");
}

const lastUserText = (request: ChatRequest): string =>
  textOf(request.messages.findLast((message) => message["role"] === "user"));

/** Applies `stop` and `max_tokens`, counting words as tokens. */
function say(request: ChatRequest, text: string, reasoning: readonly string[] = []): Answer {
  const stops = [request["stop"]].flat().filter((stop): stop is string => typeof stop === "string" && stop !== "");
  const ends = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
  const content = words(text.slice(0, Math.min(text.length, ...ends)));
  const limit = request["max_completion_tokens"] ?? request["max_tokens"];
  const room = typeof limit === "number" ? Math.max(1, limit) : Infinity;
  const short = reasoning.length + content.length > room;
  return {
    reasoning: reasoning.slice(0, room),
    content: content.slice(0, Math.max(0, room - reasoning.length)),
    calls: [],
    finish: short ? "length" : "stop",
  };
}

const echo = (request: ChatRequest): Answer => say(request, lastUserText(request) || "You said nothing.");

function think(request: ChatRequest): Answer {
  return say(request, lastUserText(request), words("The user wrote something, so I shall repeat it."));
}

function callTools(request: ChatRequest): Answer {
  const last = request.messages.at(-1);
  if (last?.["role"] === "tool") return say(request, `The tool answered: ${textOf(last)}`);
  const choice = request["tool_choice"];
  const wanted = isRecord(choice) && isRecord(choice["function"]) ? choice["function"]["name"] : undefined;
  const functions = (Array.isArray(request["tools"]) ? request["tools"] : [])
    .map((tool: unknown) => (isRecord(tool) && isRecord(tool["function"]) ? tool["function"] : {}))
    .filter((fn) => typeof fn["name"] === "string" && (wanted === undefined || fn["name"] === wanted));
  if (choice === "none" || functions.length === 0) return say(request, "No tool was offered to me.");
  const most = request["parallel_tool_calls"] === false ? 1 : 2;
  const calls = functions.slice(0, most).map((fn, index): ToolCall => ({
    id: `call_local_${index}`,
    type: "function",
    function: { name: String(fn["name"]), arguments: JSON.stringify(argumentsFor(fn["parameters"])) },
  }));
  return { reasoning: [], content: [], calls, finish: wanted === undefined ? "tool_calls" : "stop" };
}

function badRequest(message: string, param: string | null, code: string | null): Refusal {
  return { status: 400, error: { message, type: "invalid_request_error", param, code } };
}

const noStream = badRequest(
  "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
  "stream",
  "unsupported_value",
);
const onlyStream = badRequest(
  "This model only support stream mode, please enable the stream parameter to access the model.",
  null,
  "invalid_parameter_error",
);
const overloaded: Refusal = {
  status: 429,
  headers: { "retry-after": "2" },
  error: { message: "The engine is currently overloaded.", type: "rate_limit_error", param: null, code: "overloaded" },
};

/** Every model of the local upstream, in the order in which it lists them. */
export const localModels: readonly LocalModel[] = [
  { id: "local/echo", description: "repeats the last user message word by word", answer: echo },
  { id: "local/slow", description: "stays silent for 3 s before its first token", answer: echo, silentMs: 3000 },
  {
    id: "local/no-stream",
    description: "refuses to stream, answers whole",
    answer: echo,
    refuse: (request) => (request["stream"] === true ? noStream : undefined),
  },
  {
    id: "local/only-stream",
    description: "refuses to answer whole, streams",
    answer: echo,
    refuse: (request) => (request["stream"] === true ? undefined : onlyStream),
  },
  { id: "local/tools", description: "calls the first tool of the request, or the first two", answer: callTools },
  { id: "local/reasoning", description: "thinks in `reasoning_content` before it repeats", answer: think },
  { id: "local/cut", description: "loses the connection in mid-answer", answer: echo, breaks: "cut" },
  { id: "local/stall", description: "goes silent for ever in mid-answer", answer: echo, breaks: "stall" },
  { id: "local/late-error", description: "sends an error in mid-answer", answer: echo, breaks: "error" },
  {
    id: "local/error",
    description: "refuses every request with a 400",
    refuse: () => badRequest("This model refuses every request.", "messages", "refused"),
  },
  { id: "local/overloaded", description: "answers 429 with `retry-after: 2`", refuse: () => overloaded },
];
