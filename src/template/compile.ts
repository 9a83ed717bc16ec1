import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { BUILT_IN } from "./built-in.ts";
import { markupOf, type Markup } from "./markup.ts";
import { formatTime } from "./time.ts";

/** A template says by `raise_exception` what is wrong with a chat. */
export class Raised extends Error {}

export interface Compiled {
  readonly markup: Markup;
  /** Throws `Raised`, or whatever a faulty template leads to. */
  render(variables: JsonObject): string;
}

const MOST_COMPILED = 32;
// Loops run over what is in the request, and over this: nothing that a client says makes one endless.
const LONGEST_RANGE = 10_000;

const compiled = new Map<string, Compiled | undefined>();

/** A template by its name or text, parsed once per isolate. Undefined: it is none. */
export function compile(template: string): Compiled | undefined {
  if (compiled.has(template)) {
    const known = compiled.get(template);
    // The one that has not been used for longest goes first.
    compiled.delete(template);
    compiled.set(template, known);
    return known;
  }
  const made = parseTemplate(BUILT_IN.get(template) ?? template);
  if (compiled.size >= MOST_COMPILED) compiled.delete(compiled.keys().next().value as string);
  compiled.set(template, made);
  return made;
}

function parseTemplate(text: string): Compiled | undefined {
  let program: ReturnType<typeof parse>;
  try {
    program = parse(tokenize(text, { lstrip_blocks: true, trim_blocks: true }));
  } catch {
    return undefined;
  }
  const markup = markupOf(text);
  return {
    markup,
    render(variables): string {
      const environment = new Environment();
      const { bos: bos_token, eos: eos_token } = markup;
      for (const [name, value] of Object.entries({ ...variables, bos_token, eos_token, ...GLOBALS })) {
        // Undefined is the absence of a variable, which templates ask for.
        if (value !== undefined && name !== "namespace") environment.set(name, value);
      }
      return String(new Interpreter(environment).run(program).value);
    },
  };
}

const GLOBALS = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  raise_exception(message: unknown): never {
    throw new Raised(String(message));
  },
  range(first: number, second?: number, step = 1): number[] {
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    const length = Math.max(Math.ceil((stop - start) / step), 0);
    if (!(length <= LONGEST_RANGE)) throw new RangeError("range");
    return Array.from({ length }, (_, i) => start + i * step);
  },
  strftime_now: (format: string): string => formatTime(new Date(), format),
};
