import { isObject, type JsonObject } from "../json/lossless.ts";
import type { createTextPass, TextPassOptions, TextTool } from "../text/pass.ts";
import { createLegacyFunctionsPass } from "./legacy-functions.ts";
import type { ChoicePass } from "./pass.ts";
import type { ReasoningFields } from "./reasoning-fields.ts";
import type { AnswerShape } from "./types.ts";

/** How the text of an answer is read and written, beyond what the request says. */
export interface Reading {
  /** Families of tool calls and thoughts written as text; `none` leaves the text alone. */
  readonly tools: string;
  readonly reasoning: string;
  /** What reads them; loaded only where there is something to read. */
  readonly reader: TextReader | undefined;
  /** The upstream's name of the model. */
  readonly model: string;
  /** Where the client's operator wants thoughts. */
  readonly fields: ReasoningFields;
  /** The client speaks of functions, not of tools. */
  readonly legacyFunctions: boolean;
  /** Each chunk of the upstream repeats what those before it said. */
  readonly cumulative: boolean;
  /** Whether the prompt has opened a thought; undefined: nobody knows. */
  readonly opened?: boolean | undefined;
  /** How many choices this request brings. */
  readonly n: number;
}

/** The module that reads text, as far as it is needed here. */
export interface TextReader {
  readonly createTextPass: typeof createTextPass;
}

/** What the answer to a request has to look like, as it is asked for. @param body the client's own request */
export function answerShapeOf(shape: AnswerShape, body: JsonObject, reading: Reading): AnswerShape {
  return {
    ...shape,
    n: reading.n,
    cumulative: reading.cumulative,
    // A client can ask not to be told the thoughts.
    reasoning: body["include_reasoning"] === false ? "none" : reading.fields,
    pass: passOf(body, reading),
  };
}

function passOf(body: JsonObject, reading: Reading): (() => ChoicePass) | undefined {
  const { reader, legacyFunctions } = reading;
  if (reader === undefined) return legacyFunctions ? createLegacyFunctionsPass : undefined;
  const options = textOptions(body, reading);
  const text = (): ChoicePass => reader.createTextPass(options);
  return legacyFunctions ? () => chained(text(), createLegacyFunctionsPass()) : text;
}

function textOptions(body: JsonObject, { tools, reasoning, model, opened }: Reading): TextPassOptions {
  const { parallel_tool_calls, chat_template_kwargs } = body;
  const thinking = isObject(chat_template_kwargs)
    ? (chat_template_kwargs["enable_thinking"] ?? chat_template_kwargs["thinking"])
    : undefined;
  return {
    toolFamily: tools,
    reasoningFamily: reasoning,
    tools: [...toolsOf(body["tools"], "function"), ...toolsOf(body["functions"], undefined)],
    toolChoice: choiceOf(body["tool_choice"] ?? body["function_call"]),
    parallel: parallel_tool_calls !== false,
    model,
    // A template that was told not to think opens no thought.
    opened: opened ?? (thinking === false ? false : undefined),
  };
}

function toolsOf(list: unknown, level: string | undefined): TextTool[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((tool: unknown): TextTool[] => {
    const named = level === undefined ? tool : isObject(tool) ? tool[level] : undefined;
    return isObject(named) && typeof named["name"] === "string"
      ? [{ name: named["name"], parameters: named["parameters"] }]
      : [];
  });
}

function choiceOf(choice: unknown): TextPassOptions["toolChoice"] {
  if (choice === "none" || choice === "required") return choice;
  const named = isObject(choice) ? (isObject(choice["function"]) ? choice["function"] : choice) : undefined;
  return named !== undefined && typeof named["name"] === "string" ? { name: named["name"] } : "auto";
}

/** What the first pass makes of a delta goes through the second. */
function chained(first: ChoicePass, second: ChoicePass): ChoicePass {
  return {
    take: (delta) => first.take(delta).flatMap((made) => second.take(made)),
    end(finish) {
      const inner = first.end(finish);
      const deltas = inner.deltas.flatMap((made) => second.take(made));
      const outer = second.end(inner.finish);
      return { deltas: [...deltas, ...outer.deltas], finish: outer.finish };
    },
  };
}
