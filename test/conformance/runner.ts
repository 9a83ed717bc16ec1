// Plays cases through a gateway: the mock is its upstream, `send` its client.
import type { OutgoingHttpHeaders } from "node:http";
import { modesOf, type Case, type ClientPart, type Kind, type Mode, type Step } from "./cases.ts";
import { decoded, send, type Received, type Sending } from "./client.ts";
import { check, type Fault, type Reading } from "./expectations.ts";
import { isAllClosed } from "./expectations-upstream.ts";
import { at, isObject, isString } from "./json.ts";
import type { Cut, Mock, Run } from "./mock.ts";
import { bytesOfPiece, contentOf, joined, writesOf } from "./script.ts";
import { readCompletion, readErrorBody, readStream, type Problem } from "./strict.ts";

export interface Target {
  /** With `/v1`. */
  readonly base: string;
  readonly key: string;
  readonly mock: Mock;
  /** Milliseconds a request may take. */
  readonly timeout?: number;
}

export interface Job {
  readonly case: Case;
  readonly mode: Mode;
  readonly cut?: Cut;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const PATHS: Readonly<Record<Kind, string>> = {
  chat: "/chat/completions",
  completions: "/completions",
  embeddings: "/embeddings",
  other: "/chat/completions",
};
const BODIES: Readonly<Record<Kind, object>> = {
  chat: { messages: [{ role: "user", content: "hi" }] },
  completions: { prompt: "hi" },
  embeddings: { input: "a" },
  other: {},
};

/** Fills the placeholders in every string inside a value. */
function fill<T>(value: T, names: Readonly<Record<string, string>>): T;
function fill(value: unknown, names: Readonly<Record<string, string>>): unknown {
  if (isString(value)) return value.replace(/\{\{([A-Z]+)\}\}/g, (_, name: string) => names[name] ?? "");
  if (Array.isArray(value)) return value.map((one) => fill<unknown>(one, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member, names)]));
}

interface Asking {
  readonly url: URL;
  readonly includeUsage: boolean;
  readonly sending: Sending;
}

function askingOf(client: ClientPart, kind: Kind, mode: Mode, model: string, target: Target): Asking {
  let body: Buffer = Buffer.alloc(0);
  let includeUsage = false;
  if (client.rawBody !== undefined) {
    body = bytesOfPiece(client.rawBody);
    includeUsage = mode === "stream" && /"include_usage"\s*:\s*true/.test(body.toString("latin1"));
  }
  if (client.rawBody === undefined && client.method !== "GET") {
    const value: Record<string, unknown> = { model, ...BODIES[kind], ...client.body };
    if (mode !== "once" && !client.omitStream && !("stream" in value)) value["stream"] = mode === "stream";
    if (mode !== "stream") delete value["stream_options"];
    includeUsage = at(value["stream_options"], "include_usage") === true;
    body = Buffer.from(JSON.stringify(value));
  }
  const standard = { "content-type": "application/json", authorization: `Bearer ${target.key}` };
  const headers: OutgoingHttpHeaders = { ...standard, "content-length": body.length };
  for (const [name, value] of Object.entries(client.headers ?? {})) {
    if (value === null) delete headers[name];
    else headers[name] = isString(value) ? value : [...value];
  }
  const url = new URL(target.base + (client.path ?? PATHS[kind]));
  const { method = "POST", abort } = client;
  return { url, includeUsage, sending: { method, headers, body, abort, timeout: target.timeout ?? 20_000 } };
}

/** Reads one answer by the strict rules; the forms differ by status, mode and kind. */
function read(received: Received, mode: Mode, kind: Kind, includeUsage: boolean): { reading: Reading; bad: Problem[] } {
  const bad: Problem[] = [];
  const type =
    String(received.headers["content-type"] ?? "")
      .split(";", 1)[0]
      ?.trim()
      .toLowerCase() ?? "";
  const options = { legacy: kind === "completions", includeUsage };
  const need = (rule: "envelope" | "content-type", media: string): void => {
    if (type !== media)
      bad.push({ rule, message: `status ${received.status}: content-type ${type}, expected ${media}` });
  };
  if (received.error !== undefined) bad.push({ rule: "transport", message: `no orderly end: ${received.error}` });
  if (received.status < 200 || received.status > 299) {
    need("envelope", "application/json");
    const reading = readErrorBody(received.body);
    return { reading, bad: [...bad, ...reading.problems] };
  }
  if (mode === "stream") {
    need("content-type", "text/event-stream");
    const reading = readStream(received.body, options);
    return { reading, bad: [...bad, ...reading.problems] };
  }
  if (mode === "once" && kind !== "embeddings") return { reading: { form: "raw", body: undefined }, bad };
  need("content-type", "application/json");
  const reading = readCompletion(received.body, options);
  if (kind === "embeddings") return { reading: { form: "raw", body: reading.body }, bad };
  return { reading, bad: [...bad, ...reading.problems] };
}

async function runStep(step: Step, id: string, job: Job, tag: string, target: Target): Promise<Fault[]> {
  const { mode, cut } = job;
  const { mock, key } = target;
  const kind = step.kind ?? "chat";
  const model = `case-${id}-${tag}`;
  const names = { MODEL: model, PREFIX: "", PORT: String(mock.port), KEY: key, STREAM: String(mode === "stream") };
  const client = fill(step.client ?? {}, names);
  const { stream, json, ...common } = fill(step.expect, names);
  const own = (mode === "stream" ? stream : json) ?? {};
  const replaces = own.answer !== undefined || own.error !== undefined || own.anyOf !== undefined;
  const cleared = replaces ? { answer: undefined, error: undefined, anyOf: undefined } : {};
  const expect = { ...common, ...cleared, ...own };
  const { url, includeUsage, sending } = askingOf(client, kind, mode, model, target);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run: Run = { script: fill(step.upstream ?? [{ ok: "ok" }], names), requests: [], writes: [], cut, released };
  mock.runs.set(tag, run);
  try {
    let received = await send(url, sending);
    // An idle connection that the gateway had closed meanwhile says nothing about the case.
    if (received.reused && !received.status && !run.requests.length) received = await send(url, sending);
    for (let waited = 0; waited < (expect.closed ?? 0) && !isAllClosed(run); waited += 20) await sleep(20);
    if (expect.settleMs !== undefined) await sleep(expect.settleMs);
    const context = { sent: sending.body, mode, kind, includeUsage, run };
    if (client.abort) {
      // The client has left: only the upstream side is looked at.
      const early = { check: "abort", message: `the answer (${received.status}) ended before the client could leave` };
      const { closed, upstream } = expect;
      const wanted = { ...(closed === undefined ? {} : { closed }), ...(upstream ? { upstream } : {}) };
      const rest = check(wanted, { reading: { form: "raw", body: undefined }, received, ...context });
      return received.error === "aborted" ? rest : [early, ...rest];
    }
    received = decoded(received, client.headers?.["accept-encoding"] !== undefined);
    const { reading, bad } = read(received, mode, kind, includeUsage);
    const broken = bad.filter(({ rule }) => !(rule in (expect.off ?? {})));
    return [
      ...broken.map(({ rule, message }) => ({ check: rule, message })),
      ...check(expect, { reading, received, ...context }),
    ];
  } finally {
    release();
  }
}

let serial = Math.floor(Math.random() * 1e6) * 1e4;

/** The steps of a case share one model name, fresh for every run, so that nothing learned leaks into the next run. */
export async function runJob(job: Job, target: Target): Promise<Fault[]> {
  const one = job.case;
  const lane = async (steps: readonly Step[]): Promise<Fault[]> => {
    const tag = (++serial).toString(36);
    const faults: Fault[] = [];
    try {
      for (const step of steps) faults.push(...(await runStep(step, one.id, job, tag, target)));
    } finally {
      target.mock.runs.delete(tag);
    }
    return faults;
  };
  const main = Array.from({ length: one.repeat ?? 1 }, () => [one, ...(one.further ?? [])]);
  const lanes = [...main, ...(one.also ?? []).map((step) => [step])];
  return (await Promise.all(lanes.map(lane))).flat();
}

/**
 * Where the upstream bodies of a case are cut: an event stream at every byte if it is short, else at 40 fixed places; one JSON
 * document, which is put together before it is read, at 12; and short ones byte by byte.
 */
export function cutsOf(one: Case, mode: Mode): Cut[] {
  const answers = one.upstream ?? [];
  const asked = { path: PATHS[one.kind ?? "chat"], json: { stream: mode === "stream" } };
  const timed = answers.some((a) => a.end !== undefined || a.delay || JSON.stringify(a).includes('"wait"'));
  const unfit = one.noSplit || one.repeat || one.also || one.client?.abort || timed;
  if (unfit || answers.every((answer) => answer.ok !== undefined)) return [];
  const sizes = answers.map((answer) => joined(writesOf(contentOf(answer, asked).list)).length);
  const size = Math.max(...sizes);
  if (size < 2 || size > 300_000) return [];
  const streams = answers.some((answer) => answer.body !== undefined);
  if (streams && size <= 600 && !one.own) return [...Array.from({ length: size - 1 }, (_, i) => i + 1), "bytes"];
  const count = Math.min(streams ? 40 : 12, size - 1);
  const places = Array.from({ length: count }, (_, i) => 1 + (((i + 1) * 2_654_435_761) % (size - 1)));
  return size <= 3000 ? [...places, "bytes"] : places;
}

export const jobsOf = (cases: readonly Case[], splits: boolean): Job[] =>
  cases.flatMap((one) =>
    modesOf(one).flatMap((mode) => {
      const cuts = splits ? cutsOf(one, mode) : [undefined];
      return cuts.map((cut) => ({ case: one, mode, cut }));
    }),
  );

/** Runs the jobs side by side, those of an `alone` case one after the other at the end. */
export async function runJobs(
  jobs: readonly Job[],
  target: Target,
  report: (job: Job, faults: readonly Fault[]) => void,
  width = 12,
): Promise<void> {
  const work = async (job: Job): Promise<void> => {
    report(job, await runJob(job, target).catch((error: Error) => [{ check: "runner", message: String(error.stack) }]));
  };
  const together = jobs.filter((job) => !job.case.alone);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let job = together[next++]; job; job = together[next++]) await work(job);
  };
  await Promise.all(Array.from({ length: width }, lane));
  for (const job of jobs.filter((one) => one.case.alone)) await work(job);
}
