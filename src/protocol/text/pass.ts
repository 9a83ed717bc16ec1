import type { JsonObject } from "../json/lossless.ts";
import type { ChoicePass } from "../chat/pass.ts";
import { textOf } from "../chat/text.ts";
import type { ToolFamily } from "./family.ts";
import { familyOfModel } from "./models.ts";
import { ANY_REASONING, REASONING_FAMILIES, type ReasoningFamily } from "./reasoning-families.ts";
import { createReasoning } from "./reasoning.ts";
import { createSpecialTokens } from "./special-tokens.ts";
import type { TextPiece, TextStage } from "./stage.ts";
import { createToolText } from "./tool-text.ts";
import { ANY_TOOLS, toolFamilyOf } from "./tools/catalog.ts";
import { chosenTool } from "./tools/chosen.ts";
import { json } from "./tools/json.ts";

/** A function of the request. */
export interface TextTool {
  readonly name: string;
  /** The JSON schema of its parameters, if the request has one. */
  readonly parameters?: unknown;
}

export interface TextPassOptions {
  /** `none`, `auto`, or a name of `TOOL_FAMILY_NAMES`. */
  readonly toolFamily: string;
  /** `none`, `auto`, or a name of `REASONING_FAMILIES`. */
  readonly reasoningFamily: string;
  readonly tools: readonly TextTool[];
  /** The client's own. */
  readonly toolChoice: "auto" | "none" | "required" | { readonly name: string };
  /** `parallel_tool_calls` of the request. */
  readonly parallel: boolean;
  /** The upstream's name of the model, for `auto`. */
  readonly model: string;
  /** Whether the prompt has opened a thought; left out, the family and the model's name say it. */
  readonly opened?: boolean | undefined;
}

/** Reads the text of one choice for tool calls, thoughts and special tokens at its end. */
export function createTextPass(options: TextPassOptions): ChoicePass {
  const named = typeof options.toolChoice === "object" ? options.toolChoice.name : undefined;
  const toolFamilies = toolFamiliesOf(options, named);
  const special = createSpecialTokens();
  const toolText = toolTextOf(options, toolFamilies, named);
  const stages = [reasoningOf(options, toolFamilies), toolText].filter((stage) => stage !== undefined);
  let calls = 0;

  const run = (text: string, end: { readonly cut: boolean } | undefined): TextPiece[] => {
    let pieces: TextPiece[] = text === "" ? [] : [{ kind: "text", text }];
    for (const stage of stages) {
      pieces = pieces.flatMap((piece) => (piece.kind === "text" ? stage.take(piece.text) : [piece]));
      if (end !== undefined) pieces.push(...stage.end(end.cut));
    }
    return pieces;
  };

  const deltaOf = (piece: TextPiece): JsonObject => {
    if (piece.kind === "text") return { content: piece.text };
    if (piece.kind === "reasoning") return { reasoning: piece.text };
    const { id, name, args } = piece.call;
    const body = { index: calls++, type: "function", function: { name, arguments: args } };
    return { tool_calls: [id === undefined ? body : { id, ...body }] };
  };

  return {
    take(delta) {
      const content = textOf(delta["content"]);
      if (content === null || content === "") return [delta];
      const text = special.take(content);
      if (stages.length === 0 && text === content) return [delta];
      const pieces = merged(run(text, undefined));
      const [only] = pieces;
      if (pieces.length === 1 && only?.kind === "text" && only.text === content) return [delta];
      if (only?.kind === "text") return [{ ...delta, content: only.text }, ...pieces.slice(1).map(deltaOf)];
      const { content: _content, ...rest } = delta;
      return Object.keys(rest).length > 0 ? [rest, ...pieces.map(deltaOf)] : pieces.map(deltaOf);
    },
    end(finish) {
      const { text, calls: promised } = special.end();
      const deltas = merged(run(text, { cut: finish === "length" || finish === "content_filter" })).map(deltaOf);
      // The token that promises calls is believed where nobody looks for calls in the text.
      const called = calls > 0 || (promised && toolText === undefined);
      return { deltas, finish: finish === "stop" && named === undefined && called ? "tool_calls" : finish };
    },
  };
}

function merged(pieces: readonly TextPiece[]): TextPiece[] {
  const list: TextPiece[] = [];
  for (const piece of pieces) {
    const last = list.at(-1);
    if (last === undefined || last.kind === "call" || piece.kind !== last.kind) list.push(piece);
    else list[list.length - 1] = { kind: last.kind, text: last.text + piece.text };
  }
  return list;
}

function toolFamiliesOf(options: TextPassOptions, named: string | undefined): readonly ToolFamily[] {
  const { toolFamily, tools, toolChoice, model } = options;
  if (toolFamily === "none" || tools.length === 0 || toolChoice === "none") return [];
  const known = toolFamilyOf(toolFamily === "auto" ? (familyOfModel(model)?.tools ?? "") : toolFamily);
  const families = known === undefined ? ANY_TOOLS : [known];
  if (named !== undefined) return [chosenTool(named), ...families];
  return toolChoice === "required" && !families.includes(json) ? [...families, json] : families;
}

function toolTextOf(
  options: TextPassOptions,
  families: readonly ToolFamily[],
  named: string | undefined,
): TextStage | undefined {
  if (families.length === 0) return undefined;
  // A request that has chosen one function gets no call of another one.
  const offered = options.tools.filter((tool) => named === undefined || tool.name === named);
  return createToolText({
    families,
    tools: new Map(offered.map((tool) => [tool.name, tool.parameters])),
    single: !options.parallel || named !== undefined,
  });
}

function reasoningOf(options: TextPassOptions, toolFamilies: readonly ToolFamily[]): TextStage | undefined {
  const { reasoningFamily, model, opened } = options;
  if (reasoningFamily === "none") return undefined;
  let family: ReasoningFamily | undefined = REASONING_FAMILIES.get(reasoningFamily);
  const writing = familyOfModel(model);
  if (reasoningFamily === "auto") {
    // A model that is known and not known to think in text is left alone.
    if (writing !== undefined && writing.reasoning === undefined) return undefined;
    family = REASONING_FAMILIES.get(writing?.reasoning ?? "") ?? ANY_REASONING;
  }
  if (family === undefined) return undefined;
  const opens = opened ?? (family.opened || (family.name === "think" && writing?.reasoning === "think-open"));
  return createReasoning({ family, opened: opens, endsAt: endsThought(model) ? toolTags(toolFamilies) : [] });
}

// Qwen 3.5 is known to begin a call inside its thought.
const endsThought = (model: string): boolean => /qwen-?3\.[5-9]/i.test(model);

const toolTags = (families: readonly ToolFamily[]): readonly string[] => (families.length > 0 ? ["<tool_call>"] : []);
