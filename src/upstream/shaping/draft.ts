import type { GatewayError } from "../../protocol/errors.ts";
import { parseLossless, type JsonObject } from "../../protocol/json/lossless.ts";
import { membersOf, withMore, withoutRepeats } from "../../protocol/json/members.ts";
import type { Target } from "../target.ts";

/** What shaping has to know of who asks. */
export interface ShapingTenant {
  readonly privileged: boolean;
  readonly cacheSalt: string;
}

export interface ShapingInput {
  /** The body as it came, and the same parsed. */
  readonly text: string;
  readonly body: JsonObject;
  readonly target: Target;
  readonly tenant: ShapingTenant;
  /** Members that are filled in where the client said nothing. */
  readonly defaults: JsonObject;
  /** What has been changed before. */
  readonly changed?: readonly string[];
}

/** One thing that a request may need, told by capabilities; most of them look at a member or two and are done. */
export interface Rule {
  /** As in the name of its file. */
  readonly name: string;
  apply(draft: Draft): GatewayError | undefined;
}

/** A request on its way to a target. Only the members that a rule touches are written anew; all others keep their bytes. */
export interface Draft {
  readonly target: Target;
  readonly tenant: ShapingTenant;
  readonly defaults: JsonObject;
  /** The client's members, as they came. */
  readonly names: readonly string[];
  /** What a member says by now; undefined if there is none. Null is a value. */
  get(name: string): unknown;
  /** Whether there is a member by now, and not null. */
  has(name: string): boolean;
  /** A member with the spelling of its numbers, to be written anew. */
  lossless(name: string): unknown;
  /** The change shows as `change`. */
  set(name: string, value: unknown, change: string): void;
  drop(name: string, change?: string): void;
  /** `from` leaves, and what it says goes by the name of `to`. */
  rename(from: string, to: string): void;
  /** Asks for the model by its name there. */
  route(model: string): void;
  /** What the answer has to look like in the end. */
  readonly answer: { legacyFunctions: boolean; copies: number };
}

export interface Shaped {
  readonly text: string;
  readonly body: JsonObject;
  /** What was changed: names, never values. */
  readonly changed: readonly string[];
  /** The client speaks of functions, not of tools: its answer has to as well. */
  readonly legacyFunctions: boolean;
  /** How many requests for one choice each this one stands for. */
  readonly copies: number;
}

/** `finish` answers the request as the rules have left it. */
export function createDraft({
  text,
  body,
  target,
  tenant,
  defaults,
  changed: before = [],
}: ShapingInput): Draft & { finish(): Shaped } {
  const edits = new Map<string, unknown>();
  const changed = new Set(before);
  const answer = { legacyFunctions: false, copies: 1 };
  const names = Object.keys(body);
  let whole: JsonObject | undefined;

  const get = (name: string): unknown =>
    edits.size > 0 && edits.has(name) ? edits.get(name) : Object.hasOwn(body, name) ? body[name] : undefined;
  const has = (name: string): boolean => {
    const value = get(name);
    return value !== undefined && value !== null;
  };
  const lossless = (name: string): unknown => {
    if (edits.has(name)) return edits.get(name);
    whole ??= parseLossless(text) as JsonObject;
    return Object.hasOwn(whole, name) ? whole[name] : undefined;
  };

  return {
    target,
    tenant,
    defaults,
    names,
    get,
    has,
    lossless,
    set(name, value, change): void {
      edits.set(name, value);
      changed.add(change);
    },
    drop(name, change = `-${name}`): void {
      edits.set(name, undefined);
      changed.add(change);
    },
    rename(from, to): void {
      edits.set(to, typeof get(from) === "object" ? lossless(from) : get(from));
      edits.set(from, undefined);
      changed.add(`${from}->${to}`);
    },
    route(model): void {
      edits.set("model", model);
    },
    answer,
    finish(): Shaped {
      // A key that stands twice must not be read another way than it was checked.
      if (edits.size === 0) return { text: withoutRepeats(text, names.length), body, changed: before, ...answer };
      return {
        text: edited(text, body, names.length, edits),
        // Nearly nobody asks.
        get body() {
          return bodyOf(body, edits);
        },
        changed: [...changed],
        ...answer,
      };
    },
  };
}

/** The text with its members as the rules have left them; undefined: a member that is not there any more. */
function edited(text: string, body: JsonObject, keyCount: number, edits: ReadonlyMap<string, unknown>): string {
  const news = [...edits].map(
    ([name, value]) => [name, value === undefined ? undefined : JSON.stringify(value)] as const,
  );
  const isAdded = (one: readonly [string, string | undefined]): one is readonly [string, string] =>
    one[1] !== undefined && !Object.hasOwn(body, one[0]);
  // Nearly always there is only something to add.
  if (news.every(isAdded)) return withMore(withoutRepeats(text, keyCount), keyCount === 0, news);
  const members = membersOf(text);
  for (const [name, value] of news) members.set(name, value);
  return members.toText();
}

function bodyOf(body: JsonObject, edits: ReadonlyMap<string, unknown>): JsonObject {
  const all = new Map(Object.entries(body));
  for (const [name, value] of edits) {
    if (value === undefined) all.delete(name);
    else all.set(name, value);
  }
  return Object.fromEntries(all);
}
