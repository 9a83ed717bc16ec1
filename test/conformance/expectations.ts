// What a case asks for beyond the strict rules: the logical answer, the error, headers, and what the upstream saw.
import type { Expectation, Mode, Kind, WantedError } from "./cases.ts";
import type { Received } from "./client.ts";
import { checkUpstream, isAllClosed } from "./expectations-upstream.ts";
import { at, isFilled, listOf, show } from "./json.ts";
import { matches, statusFits, valueAt, valuesAt } from "./match.ts";
import type { Run } from "./mock.ts";
import { bytesOfPiece } from "./script.ts";
import type { CompletionReading, ErrorReading, StreamReading } from "./strict.ts";

export interface Fault {
  readonly check: string;
  readonly message: string;
}

export type Say = (check: string, message: string) => void;

/** Success of a kind without a shape of its own. */
export interface RawReading {
  readonly form: "raw";
  readonly body: unknown;
}

export type Reading = StreamReading | CompletionReading | ErrorReading | RawReading;

export interface Seen {
  readonly reading: Reading;
  readonly received: Received;
  /** What the client sent. */
  readonly sent: Buffer;
  readonly mode: Mode;
  readonly kind: Kind;
  readonly includeUsage: boolean;
  readonly run: Run;
}

/** Of the alternatives in `anyOf` one has to hold completely. */
export function check(want: Expectation, seen: Seen): Fault[] {
  if (want.anyOf) {
    const tries = want.anyOf.map((other) => check({ ...want, anyOf: undefined, ...other }, seen));
    const [best = []] = tries.sort((a, b) => a.length - b.length);
    return best.map((f) => ({ ...f, message: `nearest of ${tries.length} allowed results: ${f.message}` }));
  }
  const faults: Fault[] = [];
  const say: Say = (name, message) => faults.push({ check: name, message });
  const { reading, received, run } = seen;
  if (want.status !== undefined && !statusFits(want.status, received.status)) {
    say("status", `status ${received.status}, expected ${show(want.status)}`);
  }
  if (want.error) checkError(want.error, seen, say);
  if (want.answer) checkAnswer(want.answer, seen, say);
  checkContent(want, seen, say);
  if (reading.form === "stream") checkStream(want, reading, seen, say);
  if (want.maxMs !== undefined && received.ms > want.maxMs) say("max-ms", `${received.ms} ms`);
  if (want.closed !== undefined && !isAllClosed(run)) {
    say("upstream-closed", "the gateway did not close its connection to the upstream");
  }
  if (want.upstream) checkUpstream(want.upstream, seen, say);
  return faults;
}

/** An expected "" also takes null, an expected null takes "" in a stream, which cannot tell them apart. */
function checkAnswer(want: Readonly<Record<string, unknown>>, seen: Seen, say: Say): void {
  const { reading, received, mode, includeUsage } = seen;
  if (reading.form === "error" || (reading.form === "stream" && reading.error !== undefined)) {
    const what = reading.error ?? (reading.form === "error" ? reading.body : undefined);
    return say("answer", `an error instead of an answer: ${received.status} ${show(what, 300)}`);
  }
  const answer = reading.form === "raw" ? undefined : reading.answer;
  const { choices, usage, ...single } = want;
  const wanted = Array.isArray(choices) ? (choices as readonly unknown[]) : undefined;
  if (wanted && answer?.choices.length !== wanted.length) {
    say("choices", `${answer?.choices.length} choices instead of ${wanted.length}`);
  }
  for (const [i, choice] of (wanted ?? [single]).entries()) {
    for (const [key, value] of Object.entries(choice as object) as [string, unknown][]) {
      const got = at(answer?.choices[i], key);
      const bothEmpty = (got === null || got === "") && (value === "" || (value === null && mode === "stream"));
      if (!bothEmpty && !matches(value, got)) {
        say(key, `choice ${i}: ${key} is ${show(got, 300)}, expected ${show(value, 300)}`);
      }
    }
  }
  const usageDue = usage !== undefined && (mode !== "stream" || includeUsage);
  if (usageDue && !matches(usage, answer?.usage)) {
    say("usage", `usage is ${show(answer?.usage)}, expected ${show(usage)}`);
  }
  if (reading.form === "stream" && !reading.ended) say("no-done", "a successful stream has to end with [DONE]");
}

function checkError(want: WantedError, { reading, received, mode }: Seen, say: Say): void {
  const error = reading.form === "error" || reading.form === "stream" ? reading.error : undefined;
  const choices = reading.form === "stream" || reading.form === "json" ? reading.answer.choices : [];
  if (error === undefined && reading.form !== "error") {
    say("error", `expected an error, got ${received.status} with ${show(choices, 300)}`);
  }
  if (reading.form === "stream") {
    if (want.http) say("error-http", "nothing had been produced: an HTTP error status is due, not a 200 stream");
    if (reading.ended) say("error", "[DONE] signals success");
    if (choices.some((c) => c.finish_reason)) say("error", "a finish_reason although the answer is broken");
  }
  if (want.after !== undefined && mode === "stream") {
    const before = choices[0]?.content ?? "";
    if (reading.form !== "stream" || !matches(want.after, before)) {
      say("error-after", `text before the error is ${show(before)}, expected ${show(want.after)}`);
    }
  }
  const status = want.status ?? ["4xx", "5xx"];
  if (reading.form === "error" && !statusFits(status, received.status)) {
    say("status", `status ${received.status}, expected ${show(status)}`);
  }
  for (const key of ["message", "type", "param", "code"] as const) {
    const got = at(error, key);
    if (want[key] !== undefined && !matches(want[key], got)) {
      say(`error-${key}`, `error.${key} is ${show(got, 300)}, expected ${show(want[key])}`);
    }
  }
}

function checkContent(want: Expectation, { reading, received }: Seen, say: Say): void {
  const { rawHeaders, body } = received;
  for (const [name, wanted] of Object.entries(want.headers ?? {})) {
    const values = rawHeaders.filter((_, i) => i % 2 && rawHeaders[i - 1]?.toLowerCase() === name);
    const most = at(wanted, "atMost");
    const unlimited = wanted !== null && most === undefined;
    const good = unlimited ? values.some((value) => matches(wanted, value)) : values.length <= Number(most ?? 0);
    if (!good) say("headers", `${name} is ${show(values)}, expected ${show(wanted)}`);
  }
  const sent = `${rawHeaders.join("\n")}\n${body.toString()}`;
  for (const text of want.absentText ?? []) {
    if (text && sent.includes(text)) say("leak", `the response contains ${show(text)}`);
  }
  const value = reading.form === "stream" ? reading.chunks : reading.body;
  for (const [path, wanted] of Object.entries(want.paths ?? {})) {
    const got = valueAt(value, path);
    if (!matches(wanted, got)) say("paths", `${path} is ${show(got)}, expected ${show(wanted)}`);
  }
  for (const path of want.absentPaths ?? []) {
    if ([value].flat().some((one) => valuesAt(one, path).length)) say("absent-paths", `${path} must not be there`);
  }
  if (want.rawBody !== undefined && !bytesOfPiece(want.rawBody).equals(body)) {
    say("raw-body", `body is ${show(body.toString("latin1"))}`);
  }
}

const CUT_PAIR = /[\ud800-\udbff]$|^[\udc00-\udfff]/;

function checkStream(want: Expectation, reading: StreamReading, { received, run }: Seen, say: Say): void {
  const { chunks, events, comments, firstTextEnd } = reading;
  if (want.minComments && comments < want.minComments) say("keep-alive", `${comments} comment lines`);
  if (want.maxEvents && events.length > want.maxEvents) say("max-events", `${events.length} events`);
  if (want.noEmptyChoices && chunks.some((chunk) => !listOf(at(chunk, "choices")).length)) {
    say("empty-choices", "a chunk with choices: []");
  }
  const contents = valuesAt(chunks, "*.choices.*.delta.content").filter(isFilled);
  if (want.wellFormed && contents.some((text) => CUT_PAIR.test(text))) {
    say("well-formed", "a surrogate pair is cut in two");
  }
  if (want.incremental) {
    const firstText = received.marks.find(([size]) => firstTextEnd !== undefined && size >= firstTextEnd)?.[1];
    if (!(Number(firstText) < Number(run.writes.at(-1)))) {
      say("incremental", "no text arrived before the upstream had sent everything");
    }
  }
}
