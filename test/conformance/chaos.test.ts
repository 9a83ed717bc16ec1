// Random mixtures of the oddities that upstreams are known for: whatever comes, a client gets a stream by the rules, and the
// JSON client is told the same.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnswerShape } from "../../src/protocol/chat/types.ts";
import { gatherThrough, streamThrough } from "./core.ts";
import { isObject } from "./json.ts";
import type { LogicalAnswer } from "./logical-answer.ts";
import { readCompletion, readStream } from "./strict.ts";

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const text = fc.constantFrom("", "a", "é😀", "\ud83d", "\ude00", "\u2028", '"\\', "\r\n", "data: x\n\n");
const scalar = fc.constantFrom<unknown>(null, "", 5, 1.5, true, {}, []);
const parts = fc.array(
  fc.oneof(
    text,
    text.map((value) => ({ type: "text", text: value })),
    scalar,
  ),
  { maxLength: 3 },
);
const anyText = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: scalar },
  { weight: 1, arbitrary: parts },
);

const call = fc.record({
  index: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1) }, fc.constantFrom<unknown>(undefined, null, "0", 3)),
  id: fc.constantFrom<unknown>(undefined, "", null, "a", "b", 7),
  type: fc.constantFrom<unknown>(undefined, "function", null, ""),
  function: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        name: fc.constantFrom<unknown>(undefined, "", null, "f", "get_", "get_weather"),
        arguments: fc.constantFrom<unknown>(undefined, "", null, '{"x":', "1}", "{}", { x: 1 }, "\ud83d"),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, undefined) },
  ),
});

const delta = fc.record({
  role: fc.constantFrom<unknown>(undefined, undefined, "assistant", "", null, "user"),
  content: optional(anyText),
  reasoning: optional(anyText),
  reasoning_content: optional(text),
  refusal: optional(fc.oneof(text, fc.constant(null))),
  tool_calls: optional(fc.oneof(fc.array(call, { maxLength: 2 }), fc.constant(null))),
  function_call: fc.constantFrom<unknown>(undefined, undefined, undefined, null, { name: "f", arguments: "{}" }),
});

const finishWord = fc.constantFrom<unknown>(
  null,
  "",
  undefined,
  "stop",
  "length",
  "tool_calls",
  "tool_use",
  "eos",
  "abort",
  3,
);
const finish = fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, finishWord);
const logprobs = fc.constantFrom<unknown>(
  undefined,
  null,
  {},
  { content: null },
  { content: [{ token: "a", logprob: -1 }] },
);
const choice = fc.record({
  index: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 0, 1) }, fc.constantFrom<unknown>(undefined, null, "1")),
  delta: fc.oneof({ weight: 8, arbitrary: delta }, fc.constantFrom<unknown>(null, undefined, [])),
  finish_reason: finish,
  logprobs,
});
const usage = fc.constantFrom<unknown>(
  undefined,
  null,
  {},
  { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  { prompt_tokens: "3", completion_tokens: 2 },
);
const chunk = fc.record({
  id: fc.constantFrom<unknown>("c1", "c1", "c1", "", "c2", undefined, 5),
  object: fc.constantFrom<unknown>("chat.completion.chunk", "chat.completion.chunk", undefined, "chat.completion"),
  created: fc.constantFrom<unknown>(1, 1, 1, 2, undefined, "1", 1.5),
  model: fc.constantFrom<unknown>("m", "m", "m", undefined, null),
  choices: fc.oneof({ weight: 9, arbitrary: fc.array(choice, { maxLength: 2 }) }, fc.constant<unknown>(null)),
  usage,
});

const end =
  '{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
const event = fc.oneof(
  { weight: 12, arbitrary: chunk.map((value) => `data: ${JSON.stringify(value)}\n\n`) },
  fc.constantFrom(
    ": ping\n\n",
    "data: {}\n\n",
    "event: ping\n\n",
    "data: null\n\n",
    "id: 1\nretry: 2\n\n",
    "\n",
    "data:[]\r\n\r\n",
  ),
);
const tail = fc.oneof(
  { weight: 6, arbitrary: fc.constant(`data: ${end}\n\ndata: [DONE]\n\n`) },
  fc.constantFrom("", "data: [DONE]\n\n", 'data: {"error":{"message":"boom","code":500}}\n\n', "data: [DONE]"),
);
const shape: fc.Arbitrary<AnswerShape> = fc.record({
  n: fc.constantFrom(1, 2),
  toolNames: fc.constantFrom([], ["f"], ["get_weather", "f"]),
  namedTool: fc.boolean(),
  includeUsage: fc.boolean(),
});

const isSaid = (value: unknown): boolean => value !== null && !(isObject(value) && !Object.keys(value).length);

/** What both forms can tell: a stream has no null content, and leaves null and empty members out. */
const said = (answer: LogicalAnswer, withUsage: boolean): unknown =>
  JSON.parse(
    JSON.stringify({
      usage: withUsage ? answer.usage : undefined,
      choices: answer.choices.map((one) => ({ ...one, content: one.content ?? "", refusal: one.refusal ?? "" })),
    }),
    (_, value: unknown) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => isSaid(member))) : value,
  );

test("any mixture leaves by the rules, and means the same to both clients", () => {
  const property = fc.property(fc.array(event, { maxLength: 8 }), tail, shape, (events, last, form) => {
    const bytes = Buffer.from(events.join("") + last);
    const reading = readStream(streamThrough([bytes], form), { includeUsage: form.includeUsage });
    expect(reading.problems).toEqual([]);
    const gathered = gatherThrough([bytes], form);
    if ("failure" in gathered) {
      expect(reading.error).toEqual(gathered.failure.error.error);
      return;
    }
    expect(reading.error).toBeUndefined();
    const whole = readCompletion(Buffer.from(JSON.stringify(gathered.body)));
    expect(whole.problems).toEqual([]);
    expect(said(whole.answer, form.includeUsage)).toEqual(said(reading.answer, form.includeUsage));
  });
  fc.assert(property, { numRuns: 3000 });
}, 60_000);
