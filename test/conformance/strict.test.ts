// The checker itself: good answers pass, and for every rule there is an answer that breaks it.
import { describe, expect, test } from "vitest";
import { writesOf, joined, bytesOfPiece } from "./script.ts";
import { readCompletion, readErrorBody, readStream, RULES, type AnswerOptions, type Rule } from "./strict.ts";

const role = { D: { role: "assistant", content: "Hi" } };
const stop = { FIN: "stop" };
const done = { DONE: 1 };
const tail = [stop, done];
const envelope = { error: { message: "no", type: "server_error", param: null, code: null } };
const usage = { USE: [3, 1] };
const toolRole = (...calls: unknown[]): object => ({ D: { role: "assistant", tool_calls: calls } });
const toolsDone = [{ FIN: "tool_calls" }, done];
const message = { role: "assistant", content: "Hi" };
const completion = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
};
const withMessage = (members: object): object => ({
  ...completion,
  choices: [{ index: 0, message: { ...message, ...members }, finish_reason: "stop" }],
});

const stream = (...body: unknown[]): Uint8Array => joined(writesOf(body));
const bytes = (value: unknown): Uint8Array => bytesOfPiece({ JSON: value });
const rulesOf = (problems: readonly { rule: Rule }[]): Rule[] => problems.map(({ rule }) => rule);
const asked: AnswerOptions = { includeUsage: true };

describe("streams that hold to every rule", () => {
  const good: Readonly<Record<string, [Uint8Array, AnswerOptions?]>> = {
    "text with a comment": [stream(": keep-alive\n\n", role, ...tail)],
    "usage that was asked for": [stream(role, stop, usage, done), asked],
    "null usage before it": [stream({ CHUNK: { choices: [], usage: null } }, role, stop, usage, done), asked],
    "two calls": [
      stream(
        toolRole({ TC: [0, "a", "f", '{"x":'] }),
        { D: { content: null, tool_calls: [{ index: 0, function: { arguments: "1}" } }] } },
        { D: { tool_calls: [{ TC: [1, "b", "g", "{}"] }] } },
        ...toolsDone,
      ),
    ],
    "two choices": [
      stream(
        { CH: [{ role: "assistant", content: "B" }, null, 1] },
        { CH: [{ role: "assistant", content: "A" }, null, 0] },
        { CH: [{}, "stop", 0] },
        { CH: [{}, "length", 1] },
        done,
      ),
    ],
    "an error after text": [stream(role, { JSON: envelope })],
    "an error alone": [stream({ JSON: envelope })],
    "legacy completions": [stream({ TEXT: [0, "a"] }, { TEXT: [0, "", "stop"] }, done), { legacy: true }],
  };
  for (const [name, [body, options]] of Object.entries(good)) {
    test(name, () => expect(readStream(body, options).problems).toEqual([]));
  }
});

const broken: Readonly<Partial<Record<Rule, readonly (readonly [Uint8Array, AnswerOptions?])[]>>> = {
  "lf-only": [[stream(["data: ", role, "\r\n\r\n"], ...tail)], [stream(": a\r", role, ...tail)]],
  utf8: [[stream(role, ['data: "', { base64: "/w==" }, '"\n\n'], ...tail)]],
  "sse-field": [[stream(role, '{"loose":1}\n\n', ...tail)], [stream(role, "id: 1\n\n", ...tail)]],
  unterminated: [[stream(role, stop, "data: [DONE]")], [stream(role, stop, "data: [DONE]\n")]],
  "plain-lines": [
    [stream(["event: message\ndata: ", role, "\n\n"], ...tail)],
    [stream(["data:", role, "\n\n"], ...tail)],
    [
      stream(
        role,
        stop,
        'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",\ndata: "choices":[]}\n\n',
        done,
      ),
    ],
  ],
  "data-json": [[stream(role, "data: : ping\n\n", ...tail)], [stream(role, "data: \n\n", ...tail)]],
  "error-shape": [
    [stream(role, { JSON: { error: { ...envelope.error, code: 400 } } })],
    [stream(role, { JSON: { error: "text" } })],
    [stream(role, { JSON: { error: { message: "x", type: "y", code: null } } })],
    [stream(role, { CHUNK: { ...envelope } })],
  ],
  "chunk-shape": [
    [stream(role, { JSON: {} }, ...tail)],
    [stream(role, { JSON: 5 }, ...tail)],
    [stream(role, { CHUNK: { id: "", choices: [] } }, ...tail)],
    [stream(role, { CHUNK: { created: 1.5, choices: [] } }, ...tail)],
    [stream(role, { CHUNK: { object: "chat.completion", choices: [] } }, ...tail)],
    [stream(role, { CHUNK: { choices: null } }, ...tail)],
    [stream(role, { CHUNK: { choices: [{ delta: {}, finish_reason: null }] } }, ...tail)],
    [stream(role, { CHUNK: { choices: [{ index: 0, finish_reason: "stop" }] } }, done)],
    [stream(role, { D: { content: 6 } }, ...tail)],
    [stream({ TEXT: [0, null, "stop"] }, done), { legacy: true }],
  ],
  constant: [
    [stream(role, { CHUNK: { id: "c2", choices: [] } }, ...tail)],
    [stream(role, { CHUNK: { created: 2, choices: [] } }, ...tail)],
    [stream(role, { CHUNK: { model: "n", choices: [] } }, ...tail)],
  ],
  role: [
    [stream({ D: { content: "Hi" } }, ...tail)],
    [stream(role, role, ...tail)],
    [stream({ D: { role: "" } }, ...tail)],
  ],
  "delta-null": [[stream(role, { CH: [{ reasoning_content: null }, "stop"] }, done)]],
  finish: [
    [stream(role, stop, stop, done)],
    [stream(role, done)],
    [stream(role, { CH: [{}, ""] }, ...tail)],
    [stream(role, { FIN: "end_turn" }, ...tail)],
    [stream(role, { CHUNK: { choices: [{ index: 0, delta: {} }] } }, ...tail)],
    [stream(done)],
  ],
  "after-finish": [[stream(role, stop, { D: { content: "late" } }, done)]],
  "tool-delta": [
    [stream(toolRole({ index: 0, function: { arguments: "{}" } }), ...toolsDone)],
    [stream(toolRole({ TC: [0, "", "f", "{}"] }), ...toolsDone)],
    [stream(toolRole({ TC: [0, 3, "f", "{}"] }), ...toolsDone)],
    [stream(toolRole({ TC: [0, "a", "f", null] }), ...toolsDone)],
    [stream(toolRole({ id: "a", type: "function", function: { name: "f", arguments: "" } }), ...toolsDone)],
  ],
  "tool-order": [
    [stream(toolRole({ TC: [1, "a", "f", "{}"] }), ...toolsDone)],
    [stream(toolRole({ TC: [0, "a", "f", "{}"] }, { TC: [1, "b", "f", "{}"] }), ...toolsDone)],
    [stream(toolRole({ TC: [0, "a", "f", ""] }), { D: { tool_calls: [{ index: 0, id: "a" }] } }, ...toolsDone)],
  ],
  "usage-place": [
    [stream(role, stop, usage, done)],
    [stream(role, stop, usage, usage, done), asked],
    [stream(role, usage, ...tail), asked],
    [
      stream(
        { CHUNK: { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } } },
        role,
        ...tail,
      ),
      asked,
    ],
  ],
  usage: [[stream(role, stop, { CHUNK: { usage: { prompt_tokens: "3" } } }, done), asked]],
  "one-done": [[stream(role, ...tail, done)]],
  "after-done": [[stream(role, ...tail, role)]],
  "done-after-error": [[stream(role, { JSON: envelope }, done)]],
  "after-error": [[stream(role, { JSON: envelope }, role)], [stream({ JSON: envelope }, { JSON: envelope })]],
  "open-end": [[stream(role, stop)], [stream()]],
};

describe("streams that break a rule", () => {
  for (const [rule, streams] of Object.entries(broken)) {
    test.each(streams.map((one, n) => [n, ...one] as const))(`${rule} %i`, (_, body, options) => {
      expect(rulesOf(readStream(body, options).problems)).toContain(rule);
    });
  }
});

const brokenCompletions: readonly (readonly [Rule, unknown])[] = [
  ["completion-shape", { ...completion, id: "" }],
  ["completion-shape", { ...completion, object: "x" }],
  ["completion-shape", { ...completion, created: "1" }],
  ["completion-shape", { ...completion, choices: [] }],
  ["completion-shape", { ...completion, choices: [{ message, finish_reason: "stop" }] }],
  ["completion-shape", withMessage({ content: 5 })],
  ["completion-shape", null],
  ["role", withMessage({ role: null })],
  ["finish", { ...completion, choices: [{ index: 0, message, finish_reason: null }] }],
  ["tool-calls", withMessage({ tool_calls: [] })],
  ["tool-calls", withMessage({ tool_calls: null })],
  ["tool-calls", withMessage({ tool_calls: [{ id: "", type: "function", function: { name: "f", arguments: "" } }] })],
  ["tool-calls", withMessage({ tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: {} } }] })],
  ["usage", { ...completion, usage: { prompt_tokens: 1 } }],
];

describe("whole answers", () => {
  test("a good one passes", () => expect(readCompletion(bytes(completion)).problems).toEqual([]));
  test.each(brokenCompletions)("%s", (rule, body) => {
    expect(rulesOf(readCompletion(bytes(body)).problems)).toContain(rule);
  });
  test("two documents", () => {
    expect(rulesOf(readCompletion(joined([bytesOfPiece("{}{}")])).problems)).toContain("completion-shape");
  });
});

describe("error bodies", () => {
  test("a good one passes", () => expect(readErrorBody(bytes(envelope)).problems).toEqual([]));
  test.each([{ detail: "x" }, { error: "x" }, { error: { ...envelope.error, code: 5 } }, "text", null])(
    "%j",
    (body) => {
      expect(rulesOf(readErrorBody(bytes(body)).problems)).toContain("envelope");
    },
  );
});

test("no rule is left out", () => {
  const elsewhere = ["transport", "content-type"]; // rules of the transport: runner.test.ts
  const tested = new Set([...elsewhere, ...Object.keys(broken), ...rulesOfCompletions(), "envelope"]);
  expect(RULES.filter((rule) => !tested.has(rule))).toEqual([]);
});

function rulesOfCompletions(): Rule[] {
  return brokenCompletions.map(([rule]) => rule);
}

describe("logical answers", () => {
  test("streamed and whole say the same", () => {
    const call = { TC: [0, "a", "f", '{"x":'] };
    const rest = { D: { reasoning_content: "r", tool_calls: [{ index: 0, function: { arguments: "1}" } }] } };
    const streamed = readStream(stream(toolRole(call), rest, { D: { content: "é😀" } }, ...toolsDone)).answer;
    const calls = [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }];
    const whole = { role: "assistant", content: "é😀", reasoning: "r", reasoning_content: "r", tool_calls: calls };
    const choices = [{ index: 0, message: whole, finish_reason: "tool_calls" }];
    expect(readCompletion(bytes({ ...completion, choices })).answer.choices).toEqual(streamed.choices);
  });
});
