import { describe, expect, it } from "vitest";
import { readStream } from "../../conformance/strict.ts";
import { bytewise } from "../sse/cut.ts";
import { chunk, gatherOf, HEAD, streamOf, usageChunk, wire } from "./through.ts";

const DONE = "[DONE]";
const STOP = chunk("", "stop");
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const at = (index: number, text: unknown, finish: unknown = null): object => ({
  ...HEAD,
  choices: [{ index, text, logprobs: null, finish_reason: finish }],
});

interface Choice {
  readonly index: number;
  readonly text: string;
  readonly finish_reason: string | null;
}
const chunksOf = (out: string): Record<string, unknown>[] =>
  out
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as Record<string, unknown>);
const told = (out: string): unknown[] =>
  chunksOf(out).flatMap(({ choices }) =>
    ((choices ?? []) as Choice[]).map(({ index, text, finish_reason }) => [index, text, finish_reason]),
  );

describe("what is clean leaves byte for byte", () => {
  it.each<[string, readonly unknown[], object?]>([
    ["text", [chunk("a"), chunk("b"), STOP]],
    ["a finish with the last text", [chunk("a"), chunk("b", "length")]],
    ["nothing but a finish (max_tokens 0)", [chunk("", "length")]],
    [
      "vendor members",
      [chunk("a", null, { stop_reason: null, token_ids: [1] }), chunk("", "stop", { stop_reason: 5 })],
    ],
    ["no logprobs member", [{ ...HEAD, choices: [{ index: 0, text: "a", finish_reason: null }] }, STOP]],
    [
      "logprobs",
      [
        chunk("a", null, {
          logprobs: { tokens: ["a"], token_logprobs: [-0.1], top_logprobs: [{ a: -0.1 }], text_offset: [0] },
        }),
        STOP,
      ],
    ],
    ["choices in any order", [at(1, "B"), at(0, "A"), at(0, "", "stop"), at(1, "", "stop")], { choices: 2 }],
    ["the usage that was asked for", [chunk("a"), STOP, usageChunk(USAGE)], { includeUsage: true }],
  ])("%s", (_what, events, shape = {}) => {
    const sent = wire(...events, DONE);
    expect(streamOf(sent, shape)).toBe(sent);
    expect(streamOf(sent, shape, bytewise)).toBe(sent);
  });
});

describe("what is not is repaired", () => {
  it.each<[string, readonly unknown[], unknown[]]>([
    [
      "text null in the finish",
      [chunk("a"), chunk(null, "stop")],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "an empty finish_reason before the end",
      [chunk("a", ""), STOP],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "a foreign finish",
      [chunk("a"), chunk("", "eos_token")],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "a finish of chat",
      [chunk("a"), chunk("", "tool_calls")],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "a finish twice",
      [chunk("a"), STOP, STOP],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "length and then stop",
      [chunk("a"), chunk("", "length"), STOP],
      [
        [0, "a", null],
        [0, "", "length"],
      ],
    ],
    [
      "text behind the finish",
      [chunk("a", "stop"), chunk("b")],
      [
        [0, "a", null],
        [0, "b", null],
        [0, "", "stop"],
      ],
    ],
    [
      "text in a second finish",
      [chunk("a", "stop"), chunk("b", "stop")],
      [
        [0, "a", null],
        [0, "b", null],
        [0, "", "stop"],
      ],
    ],
    ["no index", [{ ...HEAD, choices: [{ text: "a", finish_reason: "stop" }] }], [[0, "a", "stop"]]],
    [
      "indexes that begin at 4",
      [at(4, "a"), at(4, "", "stop")],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "a number for a text",
      [chunk(5), STOP],
      [
        [0, "5", null],
        [0, "", "stop"],
      ],
    ],
    [
      "the chunks of chat",
      [
        { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }] },
        { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      ],
      [
        [0, "a", null],
        [0, "", "stop"],
      ],
    ],
    [
      "a whole answer in one event",
      [{ ...HEAD, choices: [{ index: 0, text: "a", logprobs: null, finish_reason: "stop" }], usage: USAGE }],
      [[0, "a", "stop"]],
    ],
    [
      "half a character",
      [
        '{"id":"cmpl-u","object":"text_completion","created":5,"model":"m","choices":[{"index":0,"text":"\\ud83d","logprobs":null,"finish_reason":null}]}',
        chunk("\ude00", "stop"),
      ],
      [[0, "😀", "stop"]],
    ],
  ])("%s", (_what, events, expected) => {
    const out = streamOf(wire(...events, DONE));
    expect(told(out)).toEqual(expected);
    expect(readStream(Buffer.from(out), { legacy: true }).problems).toEqual([]);
    const gathered = gatherOf(wire(...events, DONE)) as { choices: Choice[] };
    const text = expected.map((one) => (one as [number, string])[1]).join("");
    expect(gathered.choices).toMatchObject([{ index: 0, text, finish_reason: (expected.at(-1) as unknown[])[2] }]);
  });

  it("id, created and model of the first chunk stand", () => {
    const out = streamOf(
      wire(
        chunk("a"),
        { ...chunk("b"), id: "other", created: 9, model: "x", object: "chat.completion.chunk" },
        STOP,
        DONE,
      ),
    );
    expect(chunksOf(out).map(({ id, created, model, object }) => ({ id, created, model, object }))).toEqual(
      Array(3).fill(HEAD),
    );
  });

  it("makes up what no chunk says, once", () => {
    const bare = { choices: [{ index: 0, text: "a", finish_reason: null }] };
    const heads = chunksOf(
      streamOf(wire(bare, bare, { choices: [{ index: 0, text: "", finish_reason: "stop" }] }, DONE)),
    );
    expect(new Set(heads.map(({ id }) => id))).toEqual(new Set(["cmpl-made1"]));
    expect(heads[0]).toMatchObject({ object: "text_completion", created: 1_700_000_000, model: "asked-model" });
  });

  it("usage comes last, once, and only if it was asked for", () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const events = wire({ ...chunk("a"), usage: zero }, { ...chunk("", "stop"), usage: zero }, usageChunk(USAGE), DONE);
    expect(streamOf(events)).not.toContain("usage");
    const out = streamOf(events, { includeUsage: true });
    expect(readStream(Buffer.from(out), { legacy: true, includeUsage: true }).problems).toEqual([]);
    expect(chunksOf(out).at(-1)).toMatchObject({ choices: [], usage: USAGE });
    expect(gatherOf(events)).toMatchObject({ usage: USAGE });
  });

  it("the logprobs of chat become those of completions", () => {
    const entry = (token: string): object => ({
      token,
      logprob: -1,
      bytes: [],
      top_logprobs: [
        { token, logprob: -1 },
        { token: "x", logprob: -2 },
      ],
    });
    const events = wire(
      chunk("é", null, { logprobs: { content: [entry("é")] } }),
      chunk("bc", null, { logprobs: { content: [entry("b"), entry("c")] } }),
      STOP,
      DONE,
    );
    expect(gatherOf(events)).toMatchObject({
      choices: [
        {
          text: "ébc",
          logprobs: {
            tokens: ["é", "b", "c"],
            token_logprobs: [-1, -1, -1],
            top_logprobs: [
              { é: -1, x: -2 },
              { b: -1, x: -2 },
              { c: -1, x: -2 },
            ],
            text_offset: [0, 1, 2],
          },
        },
      ],
    });
  });

  it("numbers keep their spelling, NaN becomes legal", () => {
    const odd =
      '{"id":"cmpl-u","object":"text_completion","created":5,"model":"m","choices":[{"index":0,"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[-Infinity],"top_logprobs":null,"text_offset":[0]},"finish_reason":""}],"seed":9007199254740993}';
    expect(streamOf(wire(odd, STOP, DONE))).toContain('"token_logprobs":[-9999.0],"top_logprobs":null');
    expect(streamOf(wire(odd, STOP, DONE))).toContain('"seed":9007199254740993');
  });
});

describe("ends", () => {
  const code = (out: string): unknown => (chunksOf(out).at(-1) as { error?: { code: string } }).error?.code;

  it("an end without [DONE] is a whole answer if all have finished, and a cut one if not", () => {
    expect(streamOf(wire(chunk("a"), STOP))).toBe(wire(chunk("a"), STOP, DONE));
    expect(code(streamOf(wire(chunk("a"))))).toBe("upstream_cut");
    expect(code(streamOf(wire(at(0, "a", "stop"), at(1, "b"), DONE), { choices: 2 }))).toBe("upstream_cut");
    expect(code(streamOf(wire(DONE)))).toBe("upstream_invalid");
    expect(gatherOf(wire(chunk("a"), DONE))).toBe("upstream_cut");
  });

  it("what was received leaves before the error, and no finish", () => {
    const out = streamOf(wire(chunk("a", "stop"), { error: { message: "no", type: "server_error" } }), { choices: 2 });
    expect(told(out)).toEqual([[0, "a", null]]);
    expect(readStream(Buffer.from(out), { legacy: true }).problems).toEqual([]);
    expect(out).not.toContain(DONE);
  });

  it("an upstream that gave up has failed", () => {
    for (const word of ["abort", "error"])
      expect(code(streamOf(wire(chunk("a"), chunk("b", word), DONE)))).toBe("upstream_failed");
  });

  it("more choices than were asked for are bounded", () => {
    expect(code(streamOf(wire(at(0, "a"), at(1, "b"), at(2, "c"), at(3, "d"), DONE), { choices: 2 }))).toBe(
      "upstream_invalid",
    );
  });

  it("a choice that never came is not invented", () => {
    const gathered = gatherOf(wire(at(2, "C", "stop"), at(0, "A", "stop"), DONE), { choices: 4 }) as {
      choices: Choice[];
    };
    expect(gathered.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, "A"],
      [2, "C"],
    ]);
  });
});
