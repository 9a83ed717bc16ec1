import type { TextSource } from "./source.ts";

/** A call as a text spells it. `args` is JSON text that may turn out to be something else; nobody has checked the name. */
export interface TextCall {
  readonly name: string;
  readonly args: string;
  /** Only if the text carries one. */
  readonly id?: string;
}

/** Reading stops at each call it has found, and (undefined) wherever it needs text that has not come yet. */
export type Reading<T> = Generator<TextCall | undefined, T, void>;

/** The tools of the request: the JSON schema of the parameters by name. */
export type ToolSchemas = ReadonlyMap<string, unknown>;

/** Parts of a beginning between which white space may stand. */
export type BareBeginning = readonly string[];

/** How the models of one family write their tool calls when no server reads them. */
export interface ToolFamily {
  readonly name: string;
  /** Tags with which a block of calls can begin anywhere in the text. */
  readonly openings: readonly string[];
  /** Beginnings that are a call only at the very start of the text. */
  bare?(tools: ToolSchemas): readonly BareBeginning[];
  /**
   * Reads a block from behind its opening (`""` for a bare one) and answers the position of its end; undefined: this is no call,
   * or was none from behind the last call on.
   */
  read(source: TextSource, opening: string, tools: ToolSchemas): Reading<number | undefined>;
}
