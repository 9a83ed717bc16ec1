// The clients through which an answer is read. Each says what it has understood, in the same words.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage, type AIMessage, type AIMessageChunk } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, Output, streamText, tool, type LanguageModelUsage, type ToolSet } from "ai";
import OpenAI from "openai";
import { answerOfChunks, answerOfCompletion, type LogicalAnswer } from "../conformance/logical-answer.ts";
import { membersOf, SCHEMA, type SceneName } from "./scenes.ts";

export interface ReadCall {
  readonly name: string;
  readonly args: unknown;
}

export interface ReadChoice {
  readonly text: string;
  readonly calls: readonly ReadCall[];
  readonly finish: string | undefined;
  /** Undefined: this client does not show it. */
  readonly reasoning?: string;
  readonly logprobs?: unknown;
}

export interface Read {
  readonly choices: readonly ReadChoice[];
  readonly usage: readonly (number | undefined)[] | undefined;
}

/** Where and as whom a reader asks. */
export interface Asking {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
}

/** Reads the answer to one scene; undefined: this client has no words for it. Rejects with the client's own error. */
export type Reader = (asking: Asking, scene: SceneName) => Promise<Read> | undefined;

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;
const bodyOf = (model: string, scene: SceneName): Body => ({
  model,
  messages: [{ role: "user", content: scene }],
  ...membersOf(scene),
});

function readOf({ choices, usage }: LogicalAnswer): Read {
  const counts = usage as OpenAI.CompletionUsage | undefined;
  return {
    choices: choices.map(({ content, reasoning, tool_calls, finish_reason, logprobs }) => ({
      text: (content ?? "") as string,
      reasoning,
      calls: tool_calls.map(({ name, arguments: args }) => ({
        name: name as string,
        args: JSON.parse(args as string) as unknown,
      })),
      finish: finish_reason as string,
      logprobs: (logprobs as { content?: unknown } | null)?.content,
    })),
    usage: counts && [counts.prompt_tokens, counts.completion_tokens],
  };
}

const openaiWhole: Reader = async ({ model, ...to }, scene) => {
  const client = new OpenAI({ ...to, maxRetries: 0 });
  return readOf(answerOfCompletion(await client.chat.completions.create(bodyOf(model, scene))));
};

const openaiStream: Reader = async ({ model, ...to }, scene) => {
  const client = new OpenAI({ ...to, maxRetries: 0 });
  const options = { stream: true, stream_options: { include_usage: true } } as const;
  const chunks: unknown[] = [];
  for await (const chunk of await client.chat.completions.create({ ...bodyOf(model, scene), ...options }))
    chunks.push(chunk);
  return readOf(answerOfChunks(chunks));
};

/** The helper, which checks what it reads. It keeps only the last piece of members that it does not know. */
const openaiRunner: Reader = async ({ model, ...to }, scene) => {
  const client = new OpenAI({ ...to, maxRetries: 0 });
  const body = { ...bodyOf(model, scene), stream: true, stream_options: { include_usage: true } };
  const stream = client.chat.completions.stream(body as Parameters<typeof client.chat.completions.stream>[0]);
  const { choices, usage } = readOf(answerOfCompletion(await stream.finalChatCompletion()));
  return { choices: choices.map(({ reasoning: _reasoning, ...choice }) => choice), usage };
};

const FINISHES: Readonly<Record<string, string>> = { "tool-calls": "tool_calls", "content-filter": "content_filter" };

const place = <T extends string>(member: T): ReturnType<typeof jsonSchema<Record<T, string>>> =>
  jsonSchema<Record<T, string>>({ type: "object", properties: { [member]: { type: "string" } }, required: [member] });
const tools: ToolSet = {
  get_weather: tool({ description: "About a place.", inputSchema: place("city") }),
  get_time: tool({ description: "About a place.", inputSchema: place("zone") }),
};

function aiOptions({ baseURL, apiKey, model }: Asking, scene: SceneName) {
  const provider = createOpenAICompatible({
    name: "sluice",
    baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const { logprobs, top_logprobs } = membersOf(scene) as { logprobs?: boolean; top_logprobs?: number };
  return {
    model: provider(model),
    prompt: scene,
    maxRetries: 0,
    ...(scene.includes("tools") ? { tools } : {}),
    ...(scene === "json_schema" ? { output: Output.object({ schema: jsonSchema(SCHEMA), name: "place" }) } : {}),
    ...(logprobs === true ? { providerOptions: { sluice: { logprobs, top_logprobs: top_logprobs ?? 0 } } } : {}),
  };
}

interface AiResult {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly toolCalls: readonly { readonly toolName: string; readonly input: unknown }[];
  readonly finishReason: string;
  readonly usage: LanguageModelUsage;
}

const readOfAi = ({ text, reasoningText, toolCalls, finishReason, usage }: AiResult): Read => ({
  choices: [
    {
      text,
      reasoning: reasoningText ?? "",
      calls: toolCalls.map(({ toolName, input }) => ({ name: toolName, args: input })),
      finish: FINISHES[finishReason] ?? finishReason,
    },
  ],
  usage: [usage.inputTokens, usage.outputTokens],
});

/** It asks for one choice only. */
const aiWhole: Reader = (asking, scene) =>
  scene === "n=2"
    ? undefined
    : generateText(aiOptions(asking, scene) as Parameters<typeof generateText>[0]).then(readOfAi);

const aiStream: Reader = (asking, scene) => (scene === "n=2" ? undefined : readAiStream(asking, scene));

async function readAiStream(asking: Asking, scene: SceneName): Promise<Read> {
  let failure: unknown;
  const onError = ({ error }: { error: unknown }): void => {
    failure ??= error;
  };
  const result = streamText({ ...aiOptions(asking, scene), onError } as Parameters<typeof streamText>[0]);
  await result.consumeStream({ onError: (error) => onError({ error }) });
  if (failure !== undefined) throw failure;
  const [text, reasoningText, toolCalls, finishReason, usage] = await Promise.all([
    result.text,
    result.reasoningText,
    result.toolCalls,
    result.finishReason,
    result.usage,
  ]);
  return readOfAi({ text, reasoningText, toolCalls, finishReason, usage });
}

function chain({ baseURL, apiKey, model }: Asking, scene: SceneName): ChatOpenAI {
  const { n, logprobs, top_logprobs, response_format } = membersOf(scene) as Partial<Body>;
  return new ChatOpenAI({
    model,
    apiKey,
    maxRetries: 0,
    configuration: { baseURL },
    useResponsesApi: false,
    ...(typeof n === "number" ? { n } : {}),
    ...(logprobs === true ? { logprobs, topLogprobs: top_logprobs ?? 0 } : {}),
    ...(response_format ? { modelKwargs: { response_format } } : {}),
  });
}

const calledBy = ({ tool_calls = [] }: AIMessage | AIMessageChunk): ReadCall[] =>
  tool_calls.map(({ name, args }) => ({ name, args }));
const thoughtsOf = ({ additional_kwargs }: AIMessage | AIMessageChunk): string =>
  (additional_kwargs["reasoning_content"] ?? "") as string;
const countsOf = (message: AIMessage | AIMessageChunk): Read["usage"] => {
  const usage = message.usage_metadata as { input_tokens: number; output_tokens: number } | undefined;
  return usage && [usage.input_tokens, usage.output_tokens];
};

interface Generated {
  readonly message: AIMessage;
  readonly generationInfo?: { readonly finish_reason?: string; readonly logprobs?: { readonly content?: unknown } };
}

const toolsOf = (scene: SceneName): object => ("tools" in membersOf(scene) ? { tools: membersOf(scene)["tools"] } : {});

const langchainWhole: Reader = async (asking, scene) => {
  const { generations } = await chain(asking, scene).generate([[new HumanMessage(scene)]], toolsOf(scene));
  const list = (generations[0] ?? []) as unknown as Generated[];
  return {
    choices: list.map(({ message, generationInfo = {} }) => ({
      text: message.content as string,
      reasoning: thoughtsOf(message),
      calls: calledBy(message),
      finish: generationInfo.finish_reason,
      logprobs: generationInfo.logprobs?.content,
    })),
    usage: list[0] && countsOf(list[0].message),
  };
};

/** The choices of a stream it does not tell apart. */
const langchainStream: Reader = (asking, scene) =>
  scene === "n=2" ? undefined : readChainStream(chain(asking, scene), scene);

async function readChainStream(llm: ChatOpenAI, scene: SceneName): Promise<Read> {
  let message: AIMessageChunk | undefined;
  for await (const chunk of await llm.stream([new HumanMessage(scene)], toolsOf(scene)))
    message = message === undefined ? chunk : message.concat(chunk);
  if (message === undefined) throw new Error("an empty stream");
  const finish = message.response_metadata["finish_reason"] as string | undefined;
  const choice = { text: message.content as string, reasoning: thoughtsOf(message), calls: calledBy(message), finish };
  return { choices: [choice], usage: countsOf(message) };
}

export const READERS: Readonly<Record<string, Reader>> = {
  "openai, whole": openaiWhole,
  "openai, streamed": openaiStream,
  "openai, streamed by its helper": openaiRunner,
  "AI SDK, whole": aiWhole,
  "AI SDK, streamed": aiStream,
  "LangChain, whole": langchainWhole,
  "LangChain, streamed": langchainStream,
};

export const isStreamed = (reader: string): boolean => reader.includes("streamed");
