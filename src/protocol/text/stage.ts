import type { TextCall } from "./family.ts";

/** What a stretch of a model's text turns out to be. */
export type TextPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "call"; readonly call: TextCall };

/** Tells what text is, piece by piece, in the order in which it came. What cannot be told yet is held back. */
export interface TextStage {
  take(text: string): TextPiece[];
  /** @param cut the text was cut short (by a token limit), so what is incomplete may not be guessed at */
  end(cut: boolean): TextPiece[];
}
