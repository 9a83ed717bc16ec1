import { gatewayError, type GatewayError } from "../errors.ts";
import type { JsonObject } from "../json/lossless.ts";
import {
  faultOfAnswerOptions,
  missing,
  parseRequestBody,
  wantsUsage,
  wrong,
  type RequestBody,
} from "../request-body.ts";
import { err, ok, type Result } from "../result.ts";
import type { TextShape } from "./types.ts";

/** A request for text completions as far as a gateway has to understand it. */
export interface TextRequest extends RequestBody {
  readonly stream: boolean;
  /** The prompts one by one, each a text or a list of token ids; one `undefined` if they are not said here (`prompt_embeds`). */
  readonly prompts: readonly unknown[];
  readonly n: number;
  readonly shape: TextShape;
}

/** How many choices one answer may have: its state is held in memory. */
const MOST_CHOICES = 8192;

/** Checks what can be known to be wrong before any upstream is asked. `max_tokens: 0` is right here: with `echo` it scores a prompt. */
export function parseTextRequest(text: string): Result<TextRequest, GatewayError> {
  const parsed = parseRequestBody(text);
  if (!parsed.ok) return parsed;
  const { body } = parsed.value;
  const { prompt, prompt_embeds, stream } = body;
  const said = prompt !== undefined && prompt !== null;
  if (!said && (prompt_embeds === undefined || prompt_embeds === null)) return err(missing("prompt"));
  const prompts = said ? promptsOf(prompt) : [undefined];
  if (prompts === undefined)
    return err(wrong("prompt", "a string, a list of strings, a list of token ids or a list of those"));
  const fault = faultOfAnswerOptions(body);
  if (fault !== undefined) return err(fault);
  const n = typeof body["n"] === "number" ? body["n"] : 1;
  const choices = prompts.length * n;
  if (choices > MOST_CHOICES) {
    const what = `Invalid 'prompt': ${prompts.length} prompts with ${n} choices each are more than the ${MOST_CHOICES} choices that one answer may have.`;
    return err(gatewayError("invalid_value", what, "prompt"));
  }
  return ok({
    ...parsed.value,
    stream: stream === true,
    prompts,
    n,
    shape: { choices, includeUsage: wantsUsage(body) },
  });
}

const isTokens = (value: unknown): value is number[] => Array.isArray(value) && value.every(Number.isInteger);

/** Undefined: it is none of the four forms that a prompt may have. */
function promptsOf(prompt: unknown): unknown[] | undefined {
  if (typeof prompt === "string") return [prompt];
  if (!Array.isArray(prompt) || prompt.length === 0) return undefined;
  if (isTokens(prompt)) return [prompt];
  return prompt.every((one) => typeof one === "string") || prompt.every(isTokens) ? prompt : undefined;
}

/** As for chat, under a name of its own: a server that streams chats may not stream these. */
export function textCombinationOf({ n, best_of, logprobs, echo }: JsonObject, prompts: number): string {
  const isMany = (value: unknown): boolean => typeof value === "number" && value > 1;
  return [
    "completions",
    prompts > 1 ? "prompts" : "",
    isMany(n) ? "n" : "",
    isMany(best_of) ? "best_of" : "",
    typeof logprobs === "number" ? "logprobs" : "",
    echo === true ? "echo" : "",
  ].join("|");
}
