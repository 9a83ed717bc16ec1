// Rows of refusals.json become cases: the verdict of a row decides what has to happen after the scripted refusal.
import type { Answer, Case, Expectation, Kind, Status } from "./cases.ts";

export interface RefusalRow {
  readonly row: number;
  readonly v?: string;
  readonly verdict: "yes" | "no" | "no-options" | "trap" | "stream" | "either";
  readonly title: string;
  readonly source?: string;
  readonly note?: string;
  readonly judgement?: boolean;
  readonly combo?: keyof typeof COMBINATIONS;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The second request has to leave the key `stream` out. */
  readonly omit?: boolean;
  /** What the client may get if it differs from the reply's status. */
  readonly status?: Status;
  readonly retryable?: boolean;
  readonly first?: Answer;
  readonly reply: Answer;
}

interface Combination {
  readonly kind?: Kind;
  /** What the client adds to the request. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The whole answer that the second request gets. */
  readonly reply?: Answer;
  readonly answer?: Readonly<Record<string, unknown>>;
}

const call = { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } };
const tools: Combination & { readonly body: object } = {
  body: { tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }] },
  reply: { completion: [{ content: null, tool_calls: [call] }, "tool_calls"] },
  answer: {
    content: "",
    finish_reason: "tool_calls",
    tool_calls: [{ id: "call_1", name: "f", arguments: '{"a":1}' }],
  },
};
const usage = { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 };
const pairOf = (member: (text: string) => object): readonly object[] =>
  ["A", "B"].map((text, index) => ({ index, ...member(text), finish_reason: "stop" }));
const pair = { choices: pairOf((content) => ({ content })) };
const whole = { id: "c1", object: "text_completion", created: 1, model: "m", usage };

const COMBINATIONS = {
  tools,
  tools_logprobs: { ...tools, body: { ...tools.body, logprobs: true } },
  response_format: { body: { response_format: { type: "json_object" } } },
  n: {
    body: { n: 2 },
    answer: pair,
    reply: {
      completion: [{}, "stop", { usage, choices: pairOf((content) => ({ message: { role: "assistant", content } })) }],
    },
  },
  prompts: {
    kind: "completions",
    body: { prompt: ["a", "b"] },
    answer: pair,
    reply: { json: { ...whole, choices: pairOf((text) => ({ text })) } },
  },
  best_of: {
    kind: "completions",
    body: { best_of: 2 },
    reply: { ok: "A" },
    answer: { content: "A", finish_reason: "stop" },
  },
} as const satisfies Readonly<Record<string, Combination>>;

const streamed: Expectation = { answer: { content: "plain" }, upstream: { count: 1, requests: [{ stream: true }] } };

export function refusalCase(row: RefusalRow): Case {
  const combination: Combination = row.combo ? COMBINATIONS[row.combo] : {};
  const kind = combination.kind ?? "chat";
  const base = {
    id: `r${row.row}${row.v ?? ""}`,
    kind,
    title: row.title,
    ...(row.source ? { source: row.source } : {}),
    ...(row.judgement ? { judgement: true } : {}),
    modes: ["stream"] as const,
    client: { body: { ...combination.body, ...row.body, stream_options: { include_usage: true } } },
  };
  const wholeAnswer = combination.reply ?? { completion: [{ content: "whole answer" }, "stop"] };
  const refused = { error: { http: true, status: row.status ?? row.reply.status ?? 200 } };
  const lacks = ["stream_options", ...(row.omit ? ["stream"] : [])];
  const fallback: Expectation = {
    answer: combination.answer ?? { content: "whole answer", finish_reason: "stop" },
    upstream: { count: 2, requests: [{ stream: true }, { stream: false, lacks }] },
  };
  const onlyWithOptions = { when: { has: "stream_options" }, ...row.reply };
  switch (row.verdict) {
    case "yes": {
      // Exactly one more request, not streaming; after a combination a plain request of the same model still streams.
      const again = row.omit ? [{ when: { has: "stream" }, ...row.reply }] : [];
      const further = row.combo ? [{ kind, upstream: [{ ok: "plain" }], expect: streamed }] : [];
      const expect = row.judgement ? { anyOf: [fallback, refused] } : fallback;
      return { ...base, upstream: [row.reply, ...again, wholeAnswer], expect, further };
    }
    case "no": {
      // The error comes back, and never a non-streaming request.
      const upstream = { count: [1, row.retryable ? 3 : 1] as const, noNonStream: true };
      return { ...base, upstream: [row.reply], expect: { ...refused, upstream } };
    }
    case "no-options": {
      // Once more without stream_options but still streaming, or the error.
      const again = { count: [1, 2] as const, noNonStream: true, requests: [null, { lacks: ["stream_options"] }] };
      const given = { ...refused, upstream: { count: 1, noNonStream: true } };
      const expect = { anyOf: [{ answer: { content: "plain" }, upstream: again }, given] };
      return { ...base, upstream: [onlyWithOptions, { ok: "plain" }], expect };
    }
    case "trap":
      // After a real refusal the second request must not carry stream_options.
      return { ...base, upstream: [...(row.first ? [row.first] : []), onlyWithOptions, wholeAnswer], expect: fallback };
    case "stream":
    case "either": {
      // Only a streaming request is answered.
      const flip = {
        answer: { content: "plain", finish_reason: "stop" },
        upstream: { count: 2, requests: [{ stream: false }, { stream: true }] },
      };
      const expect = row.verdict === "stream" ? flip : { anyOf: [flip, { ...refused, upstream: { count: 1 } }] };
      const client = { body: row.body ?? {} };
      return { ...base, modes: ["json"], client, upstream: [row.reply, { ok: "plain" }], expect };
    }
  }
}
