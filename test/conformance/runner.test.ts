// The runner itself, through a proxy that changes nothing: well-formed cases pass, and every check can fail.
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadCases, type Case, type Step } from "./cases.ts";
import { startMock, type Mock } from "./mock.ts";
import { jobsOf, runJobs, type Target } from "./runner.ts";
import { bytesOfPiece, contentOf, joined, writesOf } from "./script.ts";

let mock: Mock;
let proxy: Server;
let target: Target;

beforeAll(async () => {
  mock = await startMock();
  proxy = createServer((incoming, outgoing) => {
    const { url: path, method, headers } = incoming;
    const upstream = request({ host: "127.0.0.1", port: mock.port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  target = { base: `http://127.0.0.1:${port}/v1`, key: "self-key", mock, timeout: 3000 };
});

afterAll(async () => {
  proxy.close();
  proxy.closeAllConnections();
  await mock.stop();
});

/** Names of the failing checks of a case. */
async function failing(one: Omit<Case, "id" | "title">, splits = false): Promise<string[]> {
  const names: string[] = [];
  const jobs = jobsOf([{ id: "1", title: "", ...one }], splits);
  await runJobs(jobs, target, (_, faults) => names.push(...faults.map((fault) => fault.check)));
  return names;
}

const role = { D: { role: "assistant", content: "Hi" } };
const stop = { FIN: "stop" };
const done = { DONE: 1 };
const tail = [stop, done];
const good = { answer: { content: "Hi", finish_reason: "stop" } };
const envelope = { error: { message: "no", type: "invalid_request_error", param: null, code: null } };
const withUsage = { body: { stream_options: { include_usage: true } } };
const message = { role: "assistant", content: "Hi" };
const whole = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
};
type Part = Partial<Case> & Pick<Step, "expect">;
const stream = (...body: unknown[]): Part => ({ modes: ["stream"], upstream: [{ body }], expect: {} });
const json = (value: unknown, more: object = {}): Part => ({
  modes: ["json"],
  upstream: [{ json: value, ...more }],
  expect: {},
});

const fine: Readonly<Record<string, Part>> = {
  "a stream": {
    ...stream(role, ...tail),
    expect: { ...good, upstream: { count: 1, requests: [{ stream: true, path: "/v1/chat/completions" }] } },
  },
  usage: {
    ...stream(role, stop, { USE: [3, 1] }, done),
    client: withUsage,
    expect: { answer: { content: "Hi", usage: { prompt_tokens: 3, total_tokens: 4 } } },
  },
  "both modes": { upstream: [{ ok: "Hi" }], expect: good },
  "legacy completions": { kind: "completions", upstream: [{ ok: "Hi" }], expect: good },
  "an error status": {
    upstream: [{ status: 400, json: envelope }],
    expect: { error: { http: true, status: 400, message: "no" } },
  },
  "an error event": {
    ...stream(role, { JSON: envelope }),
    expect: { error: { after: "Hi", message: { re: "no" } } },
  },
  "an answer passed over": {
    upstream: [{ when: { stream: false }, status: 503, json: envelope }, { ok: "Hi" }],
    expect: { json: { error: { status: "5xx" } }, stream: good },
  },
  "a client that leaves": {
    modes: ["stream"],
    client: { abort: { afterData: 2 } },
    upstream: [{ body: [{ times: 50, of: [role, { wait: 50 }] }] }],
    expect: { closed: 1500 },
  },
  "several steps, several times": {
    ...stream(role, ...tail),
    further: [{ upstream: [{ ok: "again" }], expect: { answer: { content: "again" } } }],
    repeat: 3,
    expect: good,
  },
  embeddings: {
    kind: "embeddings",
    client: { body: { input: [1, 2] } },
    upstream: [{ ok: "" }],
    expect: { status: 200, paths: { "data.0.embedding": [0.5, -1] }, upstream: { each: { sameBody: true } } },
  },
  "text while the upstream still sends": {
    modes: ["stream"],
    upstream: [{ body: [role, { wait: 300 }, ...tail] }],
    expect: { ...good, incremental: true },
  },
  "one of several results": { ...stream(role, ...tail), expect: { anyOf: [{ error: {} }, good] } },
  "a rule that is off": {
    ...stream(role, { CH: [{ reasoning_content: null }, "stop"] }, done),
    expect: { off: { "delta-null": "for this test" } },
  },
};

describe("cases that hold", () => {
  for (const [name, one] of Object.entries(fine)) test(name, async () => expect(await failing(one)).toEqual([]));

  test("under every cut", async () => {
    const one = fine["a stream"] ?? stream();
    expect(jobsOf([{ id: "1", title: "", ...one }], true).length).toBeGreaterThan(200);
    expect(await failing(one, true)).toEqual([]);
  }, 60_000);
});

const broken: readonly (readonly [string, Part])[] = [
  ["content-type", { modes: ["stream"], upstream: [{ type: "json", body: [role, ...tail] }], expect: {} }],
  ["lf-only", stream(["data: ", role, "\r\n\r\n"], ...tail)],
  ["envelope", json({ detail: "x" }, { status: 422 })],
  ["transport", { modes: ["stream"], upstream: [{ body: [role], end: "reset" }], expect: {} }],
  ["no-done", { ...stream(role, stop), expect: good }],
  ["answer", { ...json(envelope, { status: 400 }), expect: good }],
  ["content", { ...stream(role, ...tail), expect: { answer: { content: "Ho" } } }],
  ["tool_calls", { ...stream(role, ...tail), expect: { answer: { tool_calls: [{ name: "f" }] } } }],
  ["choices", { ...stream(role, ...tail), expect: { answer: { choices: [{}, {}] } } }],
  ["error", { ...stream(role, ...tail), expect: { error: {} } }],
  ["error-http", { ...stream({ JSON: envelope }), expect: { error: { http: true } } }],
  ["error-after", { ...stream(role, { JSON: envelope }), expect: { error: { after: "Ho" } } }],
  ["error-message", { ...json(envelope, { status: 400 }), expect: { error: { message: "yes" } } }],
  ["status", { ...json(whole), expect: { status: 201 } }],
  ["headers", { ...json(whole, { headers: { "set-cookie": "a=1" } }), expect: { headers: { "set-cookie": null } } }],
  ["leak", { ...json(whole, { headers: { "x-k": "secret-1" } }), expect: { absentText: ["secret-1"] } }],
  ["paths", { ...json(whole), expect: { paths: { "choices.0.index": 1 } } }],
  ["absent-paths", { ...json(whole), expect: { absentPaths: ["choices.*.message.content"] } }],
  ["raw-body", { ...json(whole), expect: { rawBody: "{}" } }],
  ["keep-alive", { ...stream(role, ...tail), expect: { minComments: 1 } }],
  ["max-events", { ...stream(role, ...tail), expect: { maxEvents: 2 } }],
  ["empty-choices", { ...stream(role, stop, { USE: [1, 1] }, done), expect: { noEmptyChoices: true } }],
  [
    "well-formed",
    { ...stream({ D: '{"role":"assistant","content":"\\ud83d"}' }, ...tail), expect: { wellFormed: true } },
  ],
  ["incremental", { ...stream({ D: { role: "assistant" } }, { wait: 200 }, role), expect: { incremental: true } }],
  ["max-ms", { modes: ["json"], upstream: [{ delay: 300, json: whole }], expect: { maxMs: 100 } }],
  ["upstream-closed", { ...stream(role, ...tail), expect: { closed: 100 } }],
  ["abort", { ...stream(role, ...tail), client: { abort: { afterData: 99 } }, expect: {} }],
  ["upstream-count", { ...stream(role, ...tail), expect: { upstream: { count: 2 } } }],
  ["upstream-stream", { ...json(whole), expect: { upstream: { noNonStream: true } } }],
  ["upstream-body", { ...json(whole), expect: { upstream: { each: { lacks: ["messages"] } } } }],
  ["upstream-headers", { ...json(whole), expect: { upstream: { each: { headers: { authorization: null } } } } }],
  ["upstream-leak", { ...json(whole), expect: { upstream: { absentText: ["{{KEY}}"] } } }],
  ["upstream-path", { ...json(whole), expect: { upstream: { each: { path: "/chat/completions" } } } }],
  ["upstream-raw", { ...json(whole), expect: { upstream: { each: { raw: { re: "nothing of this kind" } } } } }],
  [
    "content",
    { ...stream(role, ...tail), expect: { anyOf: [{ answer: { content: "Ho" } }, { error: { code: "x" } }] } },
  ],
];

describe("cases that do not hold", () => {
  test.each(broken)("%s", async (check, one) => expect(await failing(one)).toContain(check));
});

describe("the case files", () => {
  const cases = loadCases();

  test("have an id, a title, an expectation and a script that can be written", () => {
    for (const one of cases) {
      expect(one.id && one.title && one.expect, one.id).toBeTruthy();
      for (const step of [one, ...(one.further ?? []), ...(one.also ?? [])]) {
        for (const answer of step.upstream ?? []) {
          joined(writesOf(contentOf(answer, { path: "/v1/chat/completions", json: { stream: true } }).list));
        }
      }
    }
    expect(new Set(cases.map((one) => one.id)).size).toBe(cases.length);
  });

  test.each(["2a", "3a", "7a", "13a", "37", "38", "42", "45a", "60", "63a"])("%s fails unmended", async (id) => {
    const one = cases.find((each) => each.id === id);
    expect(one && (await failing({ ...one, modes: ["stream", "json"] }))).not.toEqual([]);
  });
});

describe("the bytes of a script", () => {
  test("macros, raw JSON text and calls", () => {
    const call = '{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}';
    const chunk = (delta: string): string =>
      `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":null}]}`;
    expect(String(bytesOfPiece({ D: { tool_calls: [{ TC: [0, "c", "f", ""] }] } }))).toBe(
      chunk(`{"tool_calls":[${call}]}`),
    );
    expect(String(bytesOfPiece({ D: '{"content":1.50}' }))).toBe(chunk('{"content":1.50}'));
    expect(writesOf([{ D: {} }, { wait: 5 }, done]).map(String)).toEqual([
      `data: ${chunk("{}")}\n\n`,
      "[object Object]",
      "data: [DONE]\n\n",
    ]);
  });
});
