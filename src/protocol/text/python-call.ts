import type { TextCall } from "./family.ts";
import { objectText } from "./typed-value.ts";

const TOKEN =
  /\s*(?:(?<number>[-+]?(?:\d[\d_]*)?\.?\d+(?:[eE][+-]?\d+)?|[-+]?\d+\.)|(?<word>\p{L}[\p{L}\p{N}_]*|_[\p{L}\p{N}_]*)|(?<sign>[()[\]{},:=]))/uy;
const WORDS: ReadonlyMap<string, string> = new Map([
  ["None", "null"],
  ["null", "null"],
  ["True", "true"],
  ["true", "true"],
  ["False", "false"],
  ["false", "false"],
]);
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["a", "\x07"],
  ["0", "\0"],
  ["\n", ""],
]);
const MAX_DEPTH = 64;

class NotALiteral extends Error {}

/** A call whose arguments are Python keyword arguments, `(a=1, b={"c": [None]})`, as JSON; undefined: they are something else. */
export function pythonCall(name: string, brackets: string): TextCall | undefined {
  try {
    const reader = createReader(brackets);
    reader.sign("(");
    const members: [string, string][] = [];
    while (!reader.skip(")")) {
      const key = reader.word();
      reader.sign("=");
      members.push([key, reader.value(0)]);
      if (!reader.skip(",")) {
        reader.sign(")");
        break;
      }
    }
    return { name, args: objectText(members) };
  } catch (error) {
    if (error instanceof NotALiteral) return undefined;
    throw error;
  }
}

interface LiteralReader {
  sign(sign: string): void;
  skip(sign: string): boolean;
  word(): string;
  /** JSON text of the literal that stands here. */
  value(depth: number): string;
}

function createReader(text: string): LiteralReader {
  let at = 0;

  const token = (): Record<string, string | undefined> => {
    TOKEN.lastIndex = at;
    return TOKEN.exec(text)?.groups ?? {};
  };
  const accept = (): void => {
    at = TOKEN.lastIndex;
  };
  const skip = (sign: string): boolean => {
    if (token()["sign"] !== sign) return false;
    accept();
    return true;
  };
  const sign = (wanted: string): void => {
    if (!skip(wanted)) throw new NotALiteral();
  };
  const word = (): string => {
    const found = token()["word"];
    if (found === undefined) throw new NotALiteral();
    accept();
    return found;
  };

  /** Neighbouring strings are one, as in Python; so `"""text"""` needs no rule of its own. */
  const strings = (): string | undefined => {
    let joined: string | undefined;
    for (;;) {
      const prefix = /\s*[rRbBuUfF]?(?=["'])/y;
      prefix.lastIndex = at;
      const match = prefix.exec(text);
      if (match === null) return joined;
      at += match[0].length;
      joined = (joined ?? "") + string(/r$/i.test(match[0]));
    }
  };
  const string = (raw: boolean): string => {
    const quote = text.charAt(at++);
    let value = "";
    for (; text.charAt(at) !== quote; at++) {
      if (at >= text.length) throw new NotALiteral();
      const char = text.charAt(at);
      value += char === "\\" && !raw ? escape() : char;
    }
    at++;
    return value;
  };
  const escape = (): string => {
    const char = text.charAt(++at);
    const digits = { x: 2, u: 4, U: 8 }[char];
    if (digits === undefined)
      return ESCAPES.get(char) ?? (char === "'" || char === '"' || char === "\\" ? char : `\\${char}`);
    const hex = text.slice(at + 1, at + 1 + digits);
    const code = Number.parseInt(hex, 16);
    if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length < digits || code > 0x10ffff) throw new NotALiteral();
    at += digits;
    return digits === 4 ? String.fromCharCode(code) : String.fromCodePoint(code);
  };

  const list = (close: string, depth: number): string => {
    const items: string[] = [];
    while (!skip(close)) {
      items.push(value(depth + 1));
      if (!skip(",")) {
        sign(close);
        break;
      }
    }
    return `[${items.join(", ")}]`;
  };
  const dictionary = (depth: number): string => {
    const members: [string, string][] = [];
    while (!skip("}")) {
      const key = value(depth + 1);
      sign(":");
      members.push([key.startsWith('"') ? (JSON.parse(key) as string) : key, value(depth + 1)]);
      if (!skip(",")) {
        sign("}");
        break;
      }
    }
    return objectText(members);
  };
  const value = (depth: number): string => {
    if (depth > MAX_DEPTH) throw new NotALiteral();
    const spelled = strings();
    if (spelled !== undefined) return JSON.stringify(spelled);
    const { number, word: name, sign: open } = token();
    accept();
    if (number !== undefined) return jsonNumber(number);
    const known = name === undefined ? undefined : WORDS.get(name);
    if (known !== undefined) return known;
    if (open === "[") return list("]", depth);
    if (open === "(") return list(")", depth);
    if (open === "{") return dictionary(depth);
    throw new NotALiteral();
  };

  return { sign, skip, word, value };
}

/** Python allows `+1`, `.5`, `5.` and `1_000`; JSON does not. */
function jsonNumber(text: string): string {
  const number = text
    .replace(/^\+|_/g, "")
    .replace(/^(-?)\./, (_, sign: string) => `${sign}0.`)
    .replace(/\.$/, ".0")
    .replace(/^(-?)0+(?=\d)/, "$1");
  try {
    JSON.parse(number);
    return number;
  } catch {
    throw new NotALiteral();
  }
}
