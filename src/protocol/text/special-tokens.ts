/** Tokens that end a turn in some chat template. All begin with `<` and have no other one. */
const TOKENS: readonly string[] = [
  "<|eot_id|>",
  "<|eom_id|>",
  "<|im_end|>",
  "<|end_of_text|>",
  "<|endoftext|>",
  "</s>",
  "<|end|>",
  "<|eot|>",
  "<|eom|>",
  "<|return|>",
  "<|call|>",
  "<|end_of_turn|>",
  "<|end_of_message|>",
  "<|endofturn|>",
  "<|eos|>",
  "<|hy_eos|>",
  "<|role_end|>",
  "<|assistant_end|>",
  "<|END_OF_TURN_TOKEN|>",
  "<end_of_turn>",
  "<turn|>",
  "<eos>",
  "<seed:eos>",
  "<｜end▁of▁sentence｜>",
];

/** Those that mean "now make the calls" rather than "I have said everything". */
const CALL_TOKENS: ReadonlySet<string> = new Set(["<|eom_id|>", "<|eom|>", "<|call|>"]);

const prefixes = new Set(
  TOKENS.flatMap((token) => Array.from({ length: token.length }, (_, i) => token.slice(0, i + 1))),
);
const tokens = new Set(TOKENS);
const LONGEST = Math.max(...TOKENS.map((token) => token.length));
const TAIL = new RegExp(`(?:(?:${TOKENS.map((token) => token.replace(/[|]/g, "\\|")).join("|")})\\s*)+$`);
// A model that never stops ending its turn is not waited for.
const MAX_HELD = 1024;

/** Whether a text ends with a special token, perhaps with white space behind it, or with the beginning of one. */
export function mayEndSpecially(whole: string): boolean {
  // Only the end is looked at, as far as it could be held: a text can be megabytes.
  const text = whole.slice(-MAX_HELD);
  const at = text.lastIndexOf("<");
  if (at < 0) return false;
  const tail = text.length - at > LONGEST ? text.slice(at).trimEnd() : text.slice(at);
  return prefixes.has(tail) || tokens.has(tail.trimEnd());
}

/** Takes special tokens away from the end of a text, and only from there. */
export interface SpecialTokens {
  /** Something is held back. */
  readonly holding: boolean;
  /** The text that can leave. */
  take(text: string): string;
  /** The text that was held back and is none; `calls`: a token was there that means a tool call. */
  end(): { readonly text: string; readonly calls: boolean };
}

export function createSpecialTokens(): SpecialTokens {
  let held = "";

  return {
    get holding() {
      return held !== "";
    },
    take(more) {
      if (held === "" && !mayEndSpecially(more)) return more;
      const text = held + more;
      const at = holdAt(text);
      held = text.slice(at);
      return text.slice(0, at);
    },
    end() {
      const text = held;
      held = "";
      const tail = TAIL.exec(text);
      if (tail === null) return { text, calls: false };
      return { text: text.slice(0, tail.index), calls: [...CALL_TOKENS].some((token) => tail[0].includes(token)) };
    },
  };
}

/** Where the tokens at the end of a text begin, whole ones and then perhaps the beginning of one more. */
function holdAt(text: string): number {
  const from = Math.max(0, text.length - MAX_HELD);
  let hold = text.length;
  for (let at = text.lastIndexOf("<"); at >= from; at = text.lastIndexOf("<", at - 1)) {
    const part = text.slice(at, hold);
    const whole = tokens.has(part.trimEnd());
    if (!whole && !(hold === text.length && prefixes.has(part))) break;
    hold = at;
    if (at === 0) break;
  }
  return hold;
}
