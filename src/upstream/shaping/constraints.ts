import type { GatewayError } from "../../protocol/errors.ts";
import { isObject, type JsonObject } from "../../protocol/json/lossless.ts";
import type { Draft, Rule } from "./draft.ts";
import { refuseOrDrop, wrongValue } from "./refusal.ts";

// The kinds of constraint by their names in `structured_outputs`; the older members are `guided_` and the same.
const KINDS = ["json", "regex", "choice", "grammar"] as const;
type Kind = (typeof KINDS)[number] | "json_object";

const GUIDED = KINDS.map((kind) => [kind, `guided_${kind}`] as const);

/** Said beside a constraint, and advice at most. */
const ADVICE = ["guided_decoding_backend"];

interface Constraint {
  readonly kind: string;
  readonly value: unknown;
  /** The member in which the client said it. */
  readonly said: string;
}

/**
 * vLLM has had two spellings, each of them ignored by the other's versions without a word; a server with neither can do some of it
 * by `response_format`, which all versions read.
 */
export const constraints: Rule = {
  name: "constraints",
  apply(draft) {
    const known = draft.target.capabilities.constraints;
    if (known === "any") return undefined;
    const guided = GUIDED.flatMap(([kind, name]) => (draft.has(name) ? [kind] : []));
    const structured = draft.has("structured_outputs");
    if (guided.length === 0 && !structured) return undefined;
    for (const name of ADVICE) if (draft.has(name)) draft.drop(name);
    if (known === "structured_outputs") return toStructuredOutputs(draft, guided);
    if (known === "guided" && !structured) return undefined;
    for (const constraint of [...guided.map((kind) => guidedBy(draft, kind)), ...structuredBy(draft)]) {
      const fault = take(draft, constraint);
      if (fault !== undefined) return fault;
    }
    if (draft.has("guided_whitespace_pattern")) draft.drop("guided_whitespace_pattern");
    return undefined;
  },
};

function toStructuredOutputs(draft: Draft, guided: readonly Kind[]): undefined {
  if (guided.length === 0) return undefined;
  const own = draft.lossless("structured_outputs");
  const all: JsonObject = isObject(own) ? { ...own } : {};
  for (const kind of guided) all[kind] = draft.lossless(`guided_${kind}`);
  if (draft.has("guided_whitespace_pattern")) {
    all["whitespace_pattern"] = draft.get("guided_whitespace_pattern");
    draft.drop("guided_whitespace_pattern");
  }
  for (const kind of guided) {
    draft.set("structured_outputs", all, `guided_${kind}->structured_outputs`);
    draft.drop(`guided_${kind}`, `guided_${kind}->structured_outputs`);
  }
  return undefined;
}

const guidedBy = (draft: Draft, kind: Kind): Constraint => ({
  kind,
  value: draft.lossless(`guided_${kind}`),
  said: `guided_${kind}`,
});

function structuredBy(draft: Draft): Constraint[] {
  const said = "structured_outputs";
  const all = draft.lossless(said);
  if (!isObject(all)) return [];
  const kinds = Object.entries(all).filter(
    ([kind, value]) => value !== null && !/^(?:disable_|whitespace_pattern$)/.test(kind),
  );
  return kinds.map(([kind, value]) => ({ kind, value, said }));
}

/** Says one constraint as the upstream reads it. */
function take(draft: Draft, { kind, value, said }: Constraint): GatewayError | undefined {
  const { constraints: known, json_schema, json_object } = draft.target.capabilities;
  const move = (to: string, written: unknown): undefined => {
    draft.set(to, written, `${said}->${to}`);
    if (said !== to) draft.drop(said, `${said}->${to}`);
  };
  if (kind === "json_object" && (json_object || known === "guided"))
    return move("response_format", { type: "json_object" });
  if (known === "guided" && KINDS.some((one) => one === kind)) return move(`guided_${kind}`, value);
  if (kind === "json" && json_schema) {
    const schema = typeof value === "string" ? parsed(value) : value;
    if (schema === undefined) return wrongValue(said, "expected a JSON schema");
    return move("response_format", { type: "json_schema", json_schema: { name: "answer", schema } });
  }
  if (known === "regex_ebnf") {
    if (kind === "regex") return move("regex", value);
    if (kind === "grammar") return move("ebnf", value);
    if (kind === "choice" && Array.isArray(value)) return move("regex", `(${value.map(literally).join("|")})`);
  }
  return refuseOrDrop(draft, said, said === "structured_outputs" ? `${kind} in structured_outputs` : said);
}

const literally = (value: unknown): string => String(value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
