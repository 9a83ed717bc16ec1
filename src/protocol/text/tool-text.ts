import { beginsBare } from "./bare.ts";
import { createBlock, type Block } from "./block.ts";
import type { ToolFamily, ToolSchemas } from "./family.ts";
import type { TextPiece, TextStage } from "./stage.ts";
import { tagFinder, isBlank } from "./tags.ts";

export interface ToolTextOptions {
  /** The likeliest first. */
  readonly families: readonly ToolFamily[];
  /** The tools that may be called. */
  readonly tools: ToolSchemas;
  /** Whether only the first call counts. */
  readonly single: boolean;
}

// White space around calls is no text. More than this of it is.
const MAX_BLANK = 1024;
// How much text may be read that turns out to be no call, before nothing is looked for any more: time stays linear.
const MAX_WASTED = 8 << 20;

/** Finds calls in text. White space that stands alone before, between and behind calls is dropped; all other text is kept. */
export function createToolText({ families, tools, single }: ToolTextOptions): TextStage {
  const openings = tagFinder(families.flatMap((family) => family.openings));
  const bare = families.map((family) => ({ family, beginnings: family.bare?.(tools) ?? [] }));
  const beginnings = bare.flatMap((one) => one.beginnings);
  let pieces: TextPiece[] = [];
  let block: Block | undefined;
  let held = "";
  // White space since the start or the last call; undefined: other text has come since.
  let blank: string | undefined = "";
  let atStart = true;
  let calls = 0;
  let wasted = 0;

  const say = (text: string): void => {
    if (text === "") return;
    if (blank !== undefined) {
      text = blank + text;
      if (isBlank(text) && text.length <= MAX_BLANK) {
        blank = text;
        return;
      }
      blank = undefined;
    }
    const last = pieces.at(-1);
    if (last?.kind === "text") pieces[pieces.length - 1] = { kind: "text", text: last.text + text };
    else pieces.push({ kind: "text", text });
  };

  const pass = (piece: TextPiece): void => {
    atStart = false;
    if (piece.kind !== "call") return say(piece.text);
    blank = "";
    calls++;
    if (!single || calls === 1) pieces.push(piece);
  };

  const begin = (fitting: readonly ToolFamily[], opening: string, inside: string): Block => {
    const begun = createBlock({ families: fitting, opening, tools });
    begun.push(inside);
    return begun;
  };

  /** Looks at text outside calls. Answers the block that has begun there; undefined: all of it was looked at. */
  const outside = (text: string, ended: boolean): Block | undefined => {
    if (atStart) {
      const from = text.length - text.trimStart().length;
      if (from === text.length) {
        say(text);
        return undefined;
      }
      const verdict = beginsBare(text.slice(from), beginnings);
      if (verdict === "maybe" && !ended) {
        held = text;
        return undefined;
      }
      atStart = false;
      if (verdict === "yes") {
        say(text.slice(0, from));
        const fitting = bare.filter((one) => beginsBare(text.slice(from), one.beginnings) === "yes");
        return begin(
          fitting.map(({ family }) => family),
          "",
          text.slice(from),
        );
      }
    }
    const found = wasted > MAX_WASTED ? undefined : openings.find(text);
    if (found === undefined) {
      const end = ended ? text.length : openings.holdAt(text);
      say(text.slice(0, end));
      held = text.slice(end);
      return undefined;
    }
    say(text.slice(0, found.index));
    const fitting = families.filter((family) => family.openings.includes(found.tag));
    return begin(fitting, found.tag, text.slice(found.index + found.tag.length));
  };

  const read = (more: string, end: { readonly cut: boolean } | undefined): TextPiece[] => {
    pieces = [];
    let text: string | undefined = held + more;
    held = "";
    while (text !== undefined) {
      if (block === undefined) block = outside(text, end !== undefined);
      else block.push(text);
      if (block === undefined) break;
      if (end !== undefined) block.end(end.cut);
      const { pieces: found, rest }: ReturnType<Block["advance"]> = block.advance();
      found.forEach(pass);
      if (rest !== undefined) {
        wasted += block.wasted;
        block = undefined;
      }
      text = rest;
    }
    if (end !== undefined && calls === 0 && blank !== undefined && blank !== "") {
      pieces.push({ kind: "text", text: blank });
      blank = "";
    }
    return pieces;
  };

  return {
    take: (text) => read(text, undefined),
    end: (cut) => read("", { cut }),
  };
}
