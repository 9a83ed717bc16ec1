import { argumentsText } from "./json-call.ts";
import type { Reading, TextCall, ToolFamily, ToolSchemas } from "./family.ts";
import { createTextSource, type TextSource } from "./source.ts";
import type { TextPiece } from "./stage.ts";

/** How much text may wait for the end of a call, in UTF-16 units. */
export const MAX_HELD = 1 << 20;

// What the setting up of an attempt costs, in characters read.
const ATTEMPT = 512;

/** Text that has begun like a call and waits to be known for one. */
export interface Block {
  push(text: string): void;
  end(cut: boolean): void;
  /** What is known by now, and `rest`, the text behind it, once the block is over. */
  advance(): { readonly pieces: TextPiece[]; readonly rest: string | undefined };
  /** How much was read in vain, in characters. */
  readonly wasted: number;
}

export interface BlockOptions {
  /** The families whose calls can begin like this, the likeliest first. */
  readonly families: readonly ToolFamily[];
  /** The tag that began it, `""` if the block is bare. */
  readonly opening: string;
  readonly tools: ToolSchemas;
}

export function createBlock({ families, opening, tools }: BlockOptions): Block {
  let candidate = 0;
  let source: TextSource;
  let reading: Reading<number | undefined>;
  // The text that has not left yet, from `base` (a position of the source) on; before it the tag, until anything has left.
  let waiting: string[] = [];
  let length = 0;
  let base = 0;
  let tag = opening;
  let called = false;
  let ended: boolean | undefined;
  let wasted = 0;

  const begin = (): void => {
    source = createTextSource();
    reading = (families[candidate] as ToolFamily).read(source, opening, tools);
  };
  begin();

  /** Takes what waits, up to a position of the source. */
  const take = (position: number): string => {
    const all = waiting.join("");
    const taken = all.slice(0, position - base);
    waiting = [all.slice(position - base)];
    length -= taken.length;
    base = position;
    return taken;
  };
  const text = (position: number): TextPiece => {
    const piece: TextPiece = { kind: "text", text: tag + take(position) };
    tag = "";
    return piece;
  };
  const remaining = (): string => take(base + length);

  const known = (call: TextCall): TextPiece | undefined => {
    const args = tools.has(call.name) ? argumentsText(call.args) : undefined;
    return args === undefined ? undefined : { kind: "call", call: { ...call, args } };
  };

  /** Gives up: the beginning leaves as text, what follows may begin anew. */
  const fail = (pieces: TextPiece[]): string => {
    // A bare block has no tag to leave: its first character does.
    if (base === 0) pieces.push(text(tag === "" ? Math.min(1, length) : 0));
    return remaining();
  };

  return {
    get wasted() {
      return wasted;
    },
    push(more): void {
      if (more === "") return;
      waiting.push(more);
      length += more.length;
      source.push(more);
    },
    end(cut): void {
      ended = cut;
      source.end(cut);
    },
    advance() {
      const pieces: TextPiece[] = [];
      for (;;) {
        const { value, done } = reading.next();
        if (source.position - base > MAX_HELD || (value === undefined && !done && length > MAX_HELD)) {
          pieces.push(text(base + MAX_HELD));
          return { pieces, rest: remaining() };
        }
        if (!done) {
          if (value === undefined) return { pieces, rest: undefined };
          const call = known(value);
          if (call === undefined) pieces.push(text(source.position));
          else {
            take(source.position);
            tag = "";
            called = true;
            pieces.push(call);
          }
          continue;
        }
        if (value !== undefined) {
          if (called) take(value);
          else pieces.push(text(value));
          return { pieces, rest: remaining() };
        }
        if (base === 0) wasted += ATTEMPT + source.position;
        if (base > 0 || candidate + 1 >= families.length) return { pieces, rest: fail(pieces) };
        candidate++;
        begin();
        const all = waiting.join("");
        waiting = [all];
        source.push(all);
        if (ended !== undefined) source.end(ended);
      }
    },
  };
}
