import { describe, expect, it } from "vitest";
import { chatFromCompletions } from "../../src/protocol/chat/from-completions.ts";
import type { AnswerShape, Identity } from "../../src/protocol/chat/types.ts";
import type { JsonObject } from "../../src/protocol/json/lossless.ts";
import { createTextPass, type TextPassOptions } from "../../src/protocol/text/pass.ts";
import { readCompletion, readStream } from "../conformance/strict.ts";

const identity: Identity = { created: 5, model: "sent", newId: (prefix) => `${prefix}0` };
const tools = [{ name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];

function shapeOf(more: Partial<AnswerShape> = {}, reading: Partial<TextPassOptions> = {}): AnswerShape {
  const options: TextPassOptions = {
    toolFamily: "llama3",
    reasoningFamily: "think",
    tools,
    toolChoice: "auto",
    parallel: true,
    model: "m",
    ...reading,
  };
  return {
    n: 1,
    toolNames: ["weather"],
    namedTool: false,
    includeUsage: true,
    pass: () => createTextPass(options),
    ...more,
  };
}

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const head = { id: "cmpl-1", object: "text_completion", created: 1, model: "m" };
const choice = (text: string, finish_reason: string | null = null, more: object = {}): object => ({
  index: 0,
  text,
  logprobs: null,
  finish_reason,
  stop_reason: null,
  ...more,
});
const event = (data: object | string): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const streamOf = (...choices: object[]): string =>
  choices.map((one) => event({ ...head, choices: [one] })).join("") +
  event({ ...head, choices: [], usage }) +
  event("[DONE]");

interface Answer {
  readonly message: JsonObject;
  readonly finish: unknown;
  readonly logprobs: unknown;
}

const utf8 = new TextEncoder();

/** Reads a stream cut at `at`, and checks it as the strictest client does. */
function streamed(text: string, shape: AnswerShape, at: number, top?: number): ReturnType<typeof readStream> {
  const bytes = utf8.encode(text);
  const stream = chatFromCompletions(shape, top).stream(identity);
  const parts = [
    stream.feed(bytes.slice(0, at))?.slice(),
    stream.feed(bytes.slice(at))?.slice(),
    stream.end()?.slice(),
  ];
  const reading = readStream(Buffer.concat(parts.filter((part) => part !== undefined)), { includeUsage: true });
  expect(reading.problems).toEqual([]);
  return reading;
}

/** The answer in one piece, which the same stream gathered has to be too. */
function whole(text: string, shape: AnswerShape, more: object = {}, top?: number): Answer[] {
  const body = { ...head, choices: [choice(text, "stop", more)], usage };
  const form = chatFromCompletions(shape, top);
  const result = form.whole(JSON.stringify(body), identity);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  expect(readCompletion(utf8.encode(result.value.text)).problems).toEqual([]);
  expect(readStream(utf8.encode(form.reframed(result.value)), { includeUsage: true }).problems).toEqual([]);
  return answersIn(result.value.body);
}

const answersIn = (body: JsonObject): Answer[] =>
  (body["choices"] as JsonObject[]).map(({ message, finish_reason, logprobs }) => ({
    message: message as JsonObject,
    finish: finish_reason,
    logprobs,
  }));

function gathered(text: string, shape: AnswerShape, top?: number): Answer[] {
  const gather = chatFromCompletions(shape, top).gather(identity);
  gather.feed(utf8.encode(text));
  const result = gather.end();
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  expect(result.value["usage"]).toEqual(usage);
  return answersIn(JSON.parse(JSON.stringify(result.value)) as JsonObject);
}

const CALL = '<|python_tag|>{"name": "weather", "parameters": {"city": "Oslo"}}';

describe("a completion as a chat", () => {
  const answers: [string, string, Partial<JsonObject>, string][] = [
    ["text", "Hé<|eot_id|>", { content: "Hé" }, "stop"],
    [
      "a call behind a thought",
      `<think>hm</think>${CALL}`,
      {
        content: null,
        reasoning: "hm",
        tool_calls: [{ id: "call_0", type: "function", function: { name: "weather", arguments: '{"city": "Oslo"}' } }],
      },
      "tool_calls",
    ],
    [
      "a call of something else",
      '{"name": "f", "parameters": {}}',
      { content: '{"name": "f", "parameters": {}}' },
      "stop",
    ],
  ];

  it.each(answers)("whole: %s", (_what, text, message, finish) => {
    expect(whole(text, shapeOf())).toMatchObject([{ message, finish }]);
  });

  it.each(answers)("gathered: %s", (_what, text, message, finish) => {
    const pieces = [...text].map((one) => choice(one));
    expect(gathered(streamOf(...pieces, choice("", "stop")), shapeOf())).toMatchObject([{ message, finish }]);
  });

  it.each(answers)("streamed, cut anywhere: %s", (_what, text, message, finish) => {
    // A choice that only calls may begin with an empty text.
    const said = (bytes: string, at: number): object => {
      const [first] = streamed(bytes, shapeOf(), at).answer.choices as unknown as JsonObject[];
      return { ...first, content: first?.["content"] || null };
    };
    const bytes = streamOf(choice(text.slice(0, 5)), choice(text.slice(5)), choice("", "stop"));
    const calls = (message["tool_calls"] ?? []) as { id: string; type: string; function: object }[];
    const tool_calls = calls.map(({ id, type, function: called }) => ({ id, type, ...called }));
    const expected = { ...message, tool_calls, finish_reason: finish };
    for (let at = 0; at < utf8.encode(bytes).length; at += 7) expect(said(bytes, at)).toMatchObject(expected);
    for (let cut = 1; cut < text.length; cut++) {
      expect(said(streamOf(choice(text.slice(0, cut)), choice(text.slice(cut), "stop")), 0)).toMatchObject(expected);
    }
  });

  it("a thought that the prompt has opened", () => {
    const shape = shapeOf({}, { opened: true });
    expect(whole("hm</think>Yes", shape)).toMatchObject([{ message: { reasoning: "hm", content: "Yes" } }]);
  });

  it("what was cut short stays so", () => {
    const [answer] = gathered(streamOf(choice("Hi"), choice("", "length")), shapeOf());
    expect(answer).toMatchObject({ message: { content: "Hi" }, finish: "length" });
  });

  it("two choices, interleaved", () => {
    const shape = shapeOf({ n: 2 });
    const bytes = streamOf(
      choice("b", null, { index: 1 }),
      choice("a"),
      choice(CALL, "stop", { index: 1 }),
      choice("c", "stop"),
    );
    const [first, second] = gathered(bytes, shape);
    expect(first).toMatchObject({ message: { content: "ac" }, finish: "stop" });
    expect(second).toMatchObject({ finish: "tool_calls" });
    expect(streamed(bytes, shape, 40).answer.choices).toHaveLength(2);
  });

  it("a stream that is cut is a failure", () => {
    const stream = chatFromCompletions(shapeOf(), 1).stream(identity);
    stream.feed(utf8.encode(event({ ...head, choices: [choice("Hi")] })));
    stream.end();
    expect(stream.state.outcome).toMatchObject({
      kind: "failed",
      failure: { error: { error: { code: "upstream_cut" } } },
    });
  });
});

describe("logprobs", () => {
  const logprobs = (token: string, value: string): object => ({
    logprobs: {
      tokens: [token],
      token_logprobs: [JSON.rawJSON(value)],
      top_logprobs: [{ [token]: JSON.rawJSON(value) }],
      text_offset: [0],
    },
  });
  const entry = (token: string, logprob: number): object => {
    const bytes = [...utf8.encode(token)];
    return { token, logprob, bytes, top_logprobs: [{ token, logprob, bytes }] };
  };

  it("whole and streamed", () => {
    const both = {
      tokens: ["H", "é"],
      token_logprobs: [-1.5, -2],
      top_logprobs: [{ H: -1.5 }, { é: -2 }],
      text_offset: [0, 1],
    };
    const expected = { content: [entry("H", -1.5), entry("é", -2)], refusal: null };
    expect(whole("Hé", shapeOf(), { logprobs: both }, 1)[0]?.logprobs).toEqual(expected);
    const bytes = streamOf(choice("H", null, logprobs("H", "-1.5")), choice("é", "stop", logprobs("é", "-2")));
    expect(gathered(bytes, shapeOf(), 1)[0]?.logprobs).toEqual(expected);
    for (let at = 0; at < utf8.encode(bytes).length; at += 11) streamed(bytes, shapeOf(), at, 1);
  });

  it("keep their digits, and are gone where nobody asked for alternatives", () => {
    const bytes = streamOf(choice("H", null, logprobs("H", "-0.10")), choice("", "stop"));
    const stream = chatFromCompletions(shapeOf(), 0).stream(identity);
    const text = new TextDecoder().decode(stream.feed(utf8.encode(bytes)));
    expect(text).toContain(
      '"logprobs":{"content":[{"token":"H","logprob":-0.10,"bytes":[72],"top_logprobs":[]}],"refusal":null}',
    );
  });

  it("that are no JSON are read all the same", () => {
    const bytes = streamOf(choice("H", null, logprobs("H", "-0.25")), choice("", "stop")).replaceAll(
      "-0.25",
      "-Infinity",
    );
    expect(gathered(bytes, shapeOf(), 0)[0]?.logprobs).toMatchObject({ content: [{ logprob: -9999 }] });
  });
});
