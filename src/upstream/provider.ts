/** An endpoint below the base URL, as clients name it. */
export const ENDPOINTS = [
  "/chat/completions",
  "/completions",
  "/embeddings",
  "/models",
  "/rerank",
  "/score",
  "/tokenize",
  "/detokenize",
  "/moderations",
  "/audio/transcriptions",
  "/audio/translations",
  "/audio/speech",
  "/images/generations",
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Bounds of a number, each of them optional; `above` is not itself allowed. */
export interface Range {
  readonly min?: number | undefined;
  readonly above?: number | undefined;
  readonly max?: number | undefined;
}

export const RANGED = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "presence_penalty",
  "frequency_penalty",
  "repetition_penalty",
  "n",
  "top_logprobs",
] as const;
export type Ranged = (typeof RANGED)[number];
export type Ranges = Readonly<Partial<Record<Ranged, Range>>>;

/** The values that a capability with more than two of them can take. `any`: the client's own passes. */
export const CHOICES = {
  /** The member that bounds an answer. */
  max_tokens: ["any", "max_tokens", "max_completion_tokens"],
  /** The role of instructions. */
  instruction_role: ["any", "system", "developer"],
  /** How text is held to a schema, a regular expression, a list or a grammar, beyond `response_format`. */
  constraints: ["any", "structured_outputs", "guided", "regex_ebnf", "none"],
  /** How `top_k` says "all tokens"; `omit`: by its absence. */
  top_k_off: ["any", "0", "-1", "omit"],
  /** How the likeliest token is asked for. */
  greedy: ["temperature_0", "top_k_1", "do_sample"],
  seed: ["any", "random_seed"],
  repetition_penalty: ["any", "repetition_penalty", "repeat_penalty"],
  /** The ids of tool calls in the history; `alphanumeric_9`: exactly nine letters and digits. */
  tool_call_ids: ["any", "alphanumeric_9"],
  /** Which spellings of reasoning an assistant message of the history may carry. */
  reasoning_history: ["any", "reasoning", "reasoning_content", "none"],
  /** How an answer that broke off is gone on with: what a last assistant message has to be sent with. */
  continuation: ["none", "trailing_assistant", "continue_final_message", "prefix"],
} as const;

type Choice = { readonly [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name][number] };

export const SWITCHES = [
  /** Answers `stream: true` with a stream. */
  "streaming",
  /** ... also when the request has tools. */
  "streaming_with_tools",
  /** Takes `stream_options`. */
  "stream_options",
  "tools",
  /** A tool_choice of `none` is honoured. */
  "tool_choice_none",
  /** A tool_choice of `required`, or of one function, is honoured. */
  "tool_choice_required",
  /** Takes `parallel_tool_calls`. */
  "parallel_tool_calls",
  /** Takes the legacy `functions` and `function_call`. */
  "functions",
  /** More than one choice; without it they are asked for one by one. */
  "n",
  "logprobs",
  /** A response_format of `json_schema`, of `json_object`. */
  "json_schema",
  "json_object",
  /** Content as a list of parts; false: text only. */
  "content_parts",
  /** Fetches the http(s) URLs of images itself. */
  "image_urls",
  /** Each chunk of a stream repeats all that was said before it. */
  "cumulative",
  /** Speaks: `modalities` with `audio`. */
  "audio",
  /** Calls of the history whose arguments are empty, or are no JSON. */
  "empty_arguments",
  "invalid_arguments",
  /** Takes `cache_salt`, which keeps the prefix caches of tenants apart. */
  "cache_salt",
  /** Legacy completions: several prompts at once, prompts as token ids, `best_of`, `suffix`, `echo`. */
  "prompt_lists",
  "prompt_tokens",
  "best_of",
  "suffix",
  "echo",
] as const;
export type Switch = (typeof SWITCHES)[number];

/** What a kind of API can do; an operator may say otherwise for an upstream or a target. */
export type Capabilities = Readonly<Record<Switch, boolean>> &
  Choice & {
    /** The most inputs that one embeddings request may have. */
    readonly embedding_inputs: number;
    /** What is out of them is refused before the upstream is asked. */
    readonly ranges: Ranges;
  };

/** A kind of API, as data. The code that serves a request never asks for its name. */
export interface Provider {
  readonly id: string;
  /** For the operator's page. */
  readonly name: string;
  /** Whether our tests run against a local upstream that speaks this dialect. */
  readonly tested: boolean;
  /** Undefined: each installation or account has its own. */
  readonly baseUrl: string | undefined;
  /** What stands between a base URL without a path and the endpoint; `{model}` is the model's name there. */
  readonly basePath: string;
  /** Parameters that a base URL gets if it does not have them. */
  readonly query: Readonly<Record<string, string>>;
  /** The header that carries the credential, and what stands before it. Undefined: there is no credential. */
  readonly auth: Auth | undefined;
  readonly endpoints: readonly Endpoint[];
  /** Those of them that lie beside the `/v1` of a base URL, not below it. */
  readonly rootEndpoints: readonly Endpoint[];
  readonly capabilities: Capabilities;
  /** Members of a request that reach beyond the tenant's own request. */
  readonly privileged: readonly string[];
  /** What its answers are known for, in words for the operator; each is repaired wherever it shows up. */
  readonly quirks: readonly string[];
}

export interface Auth {
  readonly header: string;
  readonly prefix: string;
}

export const BEARER: Auth = { header: "authorization", prefix: "Bearer " };
export const API_KEY: Auth = { header: "api-key", prefix: "" };
export const X_API_KEY: Auth = { header: "x-api-key", prefix: "" };
