// The case files: their types, and loading them with variants and refusal rows expanded.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { refusalCase, type RefusalRow } from "./refusals.ts";

export type Mode = "stream" | "json" | "once";
export type Kind = "chat" | "completions" | "embeddings" | "other";

/** One scripted answer of the upstream. */
export interface Answer {
  readonly ok?: string;
  readonly completion?: readonly unknown[];
  readonly json?: unknown;
  readonly text?: string;
  readonly body?: readonly unknown[];
  readonly when?: { readonly has?: string; readonly lacks?: string; readonly stream?: boolean };
  readonly status?: number;
  readonly reason?: string;
  readonly type?: string | null;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly delay?: number;
  readonly head?: false;
  readonly framing?: "chunked" | "length" | "close";
  readonly end?: "reset" | "fin" | "open" | "hang";
  readonly hold?: number;
}

export interface ClientPart {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly rawBody?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly path?: string;
  readonly method?: string;
  readonly omitStream?: boolean;
  readonly abort?: { readonly afterData?: number; readonly afterMs?: number };
}

export type Status = number | string | readonly (number | string)[];

export interface WantedError {
  readonly status?: Status;
  readonly http?: boolean;
  readonly after?: unknown;
  readonly message?: unknown;
  readonly type?: unknown;
  readonly param?: unknown;
  readonly code?: unknown;
}

export interface WantedRequest {
  readonly stream?: boolean;
  readonly has?: Readonly<Record<string, unknown>>;
  readonly lacks?: readonly string[];
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly path?: unknown;
  readonly raw?: unknown;
  readonly sameBody?: boolean;
}

export interface WantedUpstream {
  readonly count?: number | readonly [number, number];
  readonly requests?: readonly (WantedRequest | null)[];
  readonly each?: WantedRequest;
  readonly last?: WantedRequest;
  readonly noNonStream?: boolean;
  readonly absentText?: readonly string[];
}

export interface Expectation {
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: WantedError | undefined;
  readonly anyOf?: readonly Expectation[] | undefined;
  readonly stream?: Expectation;
  readonly json?: Expectation;
  readonly upstream?: WantedUpstream;
  readonly status?: Status;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly paths?: Readonly<Record<string, unknown>>;
  readonly absentPaths?: readonly string[];
  readonly absentText?: readonly string[];
  readonly rawBody?: unknown;
  readonly maxMs?: number;
  readonly closed?: number;
  readonly settleMs?: number;
  readonly plainLines?: boolean;
  readonly minComments?: number;
  readonly maxEvents?: number;
  readonly noEmptyChoices?: boolean;
  readonly wellFormed?: boolean;
  readonly incremental?: boolean;
  readonly off?: Readonly<Record<string, string>>;
}

export interface Step {
  readonly kind?: Kind;
  readonly client?: ClientPart;
  readonly upstream?: readonly Answer[];
  readonly expect: Expectation;
}

export interface Case extends Step {
  readonly id: string;
  readonly title: string;
  readonly source?: string;
  readonly modes?: readonly Mode[];
  readonly judgement?: boolean;
  readonly needs?: readonly string[];
  readonly alone?: boolean;
  readonly noSplit?: boolean;
  /** One of our own additions: cut at some places only, to keep the cut run short. */
  readonly own?: boolean;
  readonly repeat?: number;
  /** Steps after the first one, with the same model name; `then` in the files. */
  readonly further?: readonly Step[];
  readonly also?: readonly Step[];
}

interface FileMembers extends Case {
  readonly then?: readonly Step[];
}

type CaseFile = FileMembers & { readonly variants?: Readonly<Record<string, Partial<FileMembers>>> };

const FOLDERS = ["cases/", "cases-own/"].map((name) => new URL(`../fixtures/${name}`, import.meta.url));

const readJson = (url: URL): unknown => JSON.parse(readFileSync(url, "utf8"));

/** A case with variants is as many cases, a refusal row is one. */
export function loadCases(folders: readonly URL[] = FOLDERS): readonly Case[] {
  return folders.flatMap((folder) => {
    const names = readdirSync(folder).filter((name) => /^\d.*\.json$/.test(name));
    const files = names.toSorted().map((name) => readJson(new URL(name, folder)) as CaseFile);
    const table = new URL("refusals.json", folder);
    const rows = existsSync(table) ? (readJson(table) as readonly RefusalRow[]) : [];
    const cases = [...files.flatMap(expandVariants), ...rows.map(refusalCase)];
    return folder.pathname.endsWith("/cases-own/") ? cases.map((one) => ({ ...one, own: true })) : cases;
  });
}

function expandVariants({ variants = { "": {} }, ...shared }: CaseFile): Case[] {
  return Object.entries(variants).map(([letter, own]) => {
    const { then: further = [], ...one } = { ...shared, ...own };
    return { ...one, further, id: `${shared.id}${letter}` };
  });
}

/** Both modes where the answer has a chat or completions form: the same upstream must mean the same to both. */
export const modesOf = (one: Case): readonly Mode[] =>
  one.modes ?? (["chat", "completions"].includes(one.kind ?? "chat") ? ["stream", "json"] : ["once"]);

/** `63` names all variants of a case, `r` all refusal rows. */
export const isChosen = (id: string, only: readonly string[]): boolean =>
  only.some((name) => name === id || name === id.replace(/[a-z]+$/, "") || (name === "r" && id.startsWith("r")));
