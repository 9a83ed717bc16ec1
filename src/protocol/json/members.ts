interface Member {
  readonly key: string;
  /** The member as it stands in the text: key, colon and value. */
  readonly text: string;
}

/**
 * The top-level members of a JSON object, to be edited as text: what is not touched keeps its bytes, so unknown fields, key
 * order and the spelling of numbers survive. Of a key that stands twice only the last counts (as for `JSON.parse`): the
 * upstream must not read another one than we checked.
 */
export interface Members {
  /** `value` is JSON text; undefined takes the member away. */
  set(key: string, value: string | undefined): void;
  toText(): string;
}

/** @param text a JSON object that `JSON.parse` has accepted */
export function membersOf(text: string): Members {
  const members = new Map<string, string>();
  let changed = false;
  for (const { key, text: member } of scan(text)) {
    if (members.delete(key)) changed = true;
    members.set(key, member);
  }
  return {
    set(key, value): void {
      if (value === undefined) {
        if (members.delete(key)) changed = true;
        return;
      }
      changed = true;
      members.set(key, `${JSON.stringify(key)}:${value}`);
    },
    toText: () => (changed ? `{${[...members.values()].join(",")}}` : text),
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function* scan(text: string): Generator<Member> {
  let at = text.indexOf("{") + 1;
  for (;;) {
    const keyStart = text.indexOf('"', at);
    if (keyStart < 0) return;
    const keyEnd = stringEnd(text, keyStart);
    const end = valueEnd(text, keyEnd);
    yield { key: JSON.parse(text.slice(keyStart, keyEnd)) as string, text: text.slice(keyStart, end).trimEnd() };
    if (text.charCodeAt(end) !== COMMA) return;
    at = end + 1;
  }
}

/** The place behind the closing quote of the string that opens at `start`. Jumps from quote to quote: strings can be megabytes. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** The place of the comma or brace that ends the member whose key ended at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0;
  for (let i = at; ; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(text, i) - 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth-- === 0) return i;
        break;
      case COMMA:
        if (depth === 0) return i;
    }
  }
}
