// The bytes of a scripted answer: tagged objects of the case files become bytes. README.md lists the pieces and macros.
import { gzipSync } from "node:zlib";
import type { Answer } from "./cases.ts";
import { at, isObject, isString, listOf, show } from "./json.ts";

export type Write = Buffer | { readonly wait: number };

/** What an answer may depend on. */
export interface AskedFor {
  readonly path: string;
  readonly json: unknown;
}

/** `{"TC": [index, id, name, args]}` anywhere in a value is one tool_calls element; missing members are left out. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (!isObject(value)) return value;
  if (Array.isArray(value["TC"])) {
    const [index, id, name, args] = value["TC"] as readonly unknown[];
    return { index, id, type: "function", function: { name, arguments: args } };
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expand(member)]));
}

/** A string given to a macro is raw JSON text: this is how 1.50, NaN or 9007199254740993 get into an answer. */
const jsonText = (value: unknown): string => (isString(value) ? value : JSON.stringify(expand(value)));

const usageOf = (prompt: number, completion: number): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

const chunk = (choices: string, rest = ""): string =>
  `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":${choices}${rest}}`;

const choiceChunk = (delta: unknown, finish: unknown, index: unknown): string =>
  chunk(`[{"index":${String(index)},"delta":${jsonText(delta)},"finish_reason":${JSON.stringify(finish)}}]`);

const textChunk = (index: unknown, text: unknown, finish: unknown, more: unknown): object => ({
  id: "c1",
  object: "text_completion",
  created: 1,
  model: "m",
  choices: [{ index, text, finish_reason: finish, ...(isObject(more) ? more : {}) }],
});

export function completionText([message, finish, more]: readonly unknown[]): string {
  const choice = { index: 0, message: { role: "assistant", ...(message as object) }, finish_reason: finish };
  const whole = {
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [choice],
    usage: usageOf(3, 1),
  };
  return JSON.stringify(expand({ ...whole, ...(isObject(more) ? more : {}) }));
}

const MACROS: Readonly<Record<string, (argument: unknown) => string>> = {
  D: (delta) => choiceChunk(delta, null, 0),
  CH: (list) => choiceChunk(listOf(list)[0], listOf(list)[1], listOf(list)[2] ?? 0),
  FIN: (reason) => choiceChunk({}, reason, 0),
  USE: (list) => chunk("[]", `,"usage":${JSON.stringify(usageOf(Number(listOf(list)[0]), Number(listOf(list)[1])))}`),
  CHUNK: (members) => JSON.stringify({ ...JSON.parse(chunk("[]")), ...(expand(members) as object) }),
  TEXT: (list) => {
    const [index, text, finish = null, more] = listOf(list);
    return JSON.stringify(textChunk(index, text, finish, more));
  },
  MSG: (list) => completionText(listOf(list)),
  JSON: jsonText,
  DONE: () => "[DONE]",
};

const macroOf = (piece: unknown): string | undefined =>
  isObject(piece) ? Object.keys(piece).find((key) => Object.hasOwn(MACROS, key)) : undefined;

/** One element. Inside an array a macro is only its JSON text, so that framing bytes can be put around it. */
export function bytesOfPiece(piece: unknown): Buffer {
  if (isString(piece)) return Buffer.from(piece);
  if (Array.isArray(piece)) return Buffer.concat(piece.map(bytesOfPiece));
  const { base64, latin1, fill, n, gzip } = isObject(piece) ? piece : {};
  if (isString(base64)) return Buffer.from(base64, "base64");
  if (isString(latin1)) return Buffer.from(latin1, "latin1");
  if (isString(fill)) return Buffer.from(fill.repeat(Number(n)));
  if (Array.isArray(gzip)) return gzipSync(Buffer.concat(gzip.map(bytesOfPiece)));
  const name = macroOf(piece);
  const macro = name === undefined ? undefined : MACROS[name];
  if (name === undefined || macro === undefined) throw new Error(`unknown piece ${show(piece)}`);
  return Buffer.from(macro(at(piece, name)));
}

export const chop = (all: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.subarray(i * size, (i + 1) * size));

/** What is written one after the other. A macro at this level is a whole event. */
export function writesOf(list: readonly unknown[]): Write[] {
  return list.flatMap((piece): Write[] => {
    if (!isObject(piece)) return [bytesOfPiece(piece)];
    if (macroOf(piece)) return [Buffer.concat([Buffer.from("data: "), bytesOfPiece(piece), Buffer.from("\n\n")])];
    const { wait, times, split, of } = piece;
    if (wait !== undefined) return [{ wait: Number(wait) }];
    if (times !== undefined) return Array.from({ length: Number(times) }, () => writesOf(listOf(of))).flat();
    if (split !== undefined) return chop(joined(writesOf(listOf(of))), Number(split));
    return [bytesOfPiece(piece)];
  });
}

export const joined = (writes: readonly Write[]): Buffer =>
  Buffer.concat(writes.filter((write) => Buffer.isBuffer(write)));

/** A well-formed answer in the form that was asked for. */
function wellFormed(text: string, asked: AskedFor): unknown[] {
  if (asked.path.includes("/embeddings")) {
    const data = [{ object: "embedding", index: 0, embedding: [0.5, -1] }];
    return [jsonText({ object: "list", model: "m", data, usage: { prompt_tokens: 3, total_tokens: 3 } })];
  }
  const legacy = !asked.path.includes("/chat/");
  if (at(asked.json, "stream") !== true) {
    if (!legacy) return [completionText([{ content: text }, "stop"])];
    return [JSON.stringify({ ...textChunk(0, text, "stop", {}), usage: usageOf(3, 1) })];
  }
  const withUsage = at(at(asked.json, "stream_options"), "include_usage") === true && !legacy;
  const tail = [...(withUsage ? [{ USE: [3, 1] }] : []), { DONE: 1 }];
  if (legacy) return [{ TEXT: [0, text] }, { TEXT: [0, "", "stop"] }, ...tail];
  return [{ D: { role: "assistant", content: text } }, { FIN: "stop" }, ...tail];
}

/** What a scripted answer holds, and its media type by default. */
export function contentOf(answer: Answer, asked: AskedFor): { list: readonly unknown[]; type: string } {
  if (answer.ok !== undefined) {
    return { list: wellFormed(answer.ok, asked), type: at(asked.json, "stream") === true ? "sse" : "json" };
  }
  if (answer.completion) return { list: [completionText(answer.completion)], type: "json" };
  if (answer.json !== undefined) return { list: [jsonText(answer.json)], type: "json" };
  if (answer.text !== undefined) return { list: [answer.text], type: "text/plain" };
  return { list: answer.body ?? [], type: "sse" };
}
