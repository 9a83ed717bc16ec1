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
  scan(text, (start, keyEnd, end) => {
    const name = text.slice(start, keyEnd);
    const key = name.includes("\\") ? (JSON.parse(name) as string) : name.slice(1, -1);
    if (members.delete(key)) changed = true;
    members.set(key, text.slice(start, end).trimEnd());
  });
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

/**
 * The text of an object without the members that another one of the same key comes after; nearly always as it is.
 * @param keyCount how many keys `JSON.parse` has found in it
 */
export function withoutRepeats(text: string, keyCount: number): string {
  let count = 0;
  scan(text, () => void count++);
  return count === keyCount ? text : membersOf(text).toText();
}

/** The text of an object with more members behind its own. @param more JSON texts by keys that it does not have yet */
export function withMore(text: string, isEmpty: boolean, more: readonly (readonly [string, string])[]): string {
  const added = more.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",");
  return `${text.slice(0, text.lastIndexOf("}"))}${isEmpty ? "" : ","}${added}}`;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Shows where each member begins, its key ends (behind the quote) and the member ends. */
function scan(text: string, show: (start: number, keyEnd: number, end: number) => void): void {
  let at = text.indexOf("{") + 1;
  for (;;) {
    const start = text.indexOf('"', at);
    if (start < 0) return;
    const keyEnd = stringEnd(text, start);
    const end = valueEnd(text, keyEnd);
    show(start, keyEnd, end);
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
