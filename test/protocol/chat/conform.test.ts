import { describe, expect, it } from "vitest";
import {
  choiceChunk,
  choicesOf,
  chunk,
  HEAD,
  ROLE,
  streamOf,
  stream,
  told,
  usageChunk,
  wire,
  type Json,
  type StreamOptions,
} from "./streamed.ts";
import { bytewise } from "../sse/cut.ts";

const DONE = "[DONE]";
const text = (content: string): Json => chunk({ content });
const STOP = chunk({}, "stop");
/** A whole answer around some chunks. */
const around = (...events: unknown[]): unknown[] => [chunk(ROLE), ...events, STOP, DONE];

describe("what is clean leaves byte for byte", () => {
  it.each<[string, readonly unknown[], StreamOptions["shape"]?]>([
    ["text", [chunk(ROLE), text("a"), text("b"), STOP]],
    ["the first delta of OpenAI", [chunk({ role: "assistant", content: "", refusal: null }), text("a"), STOP]],
    ["a finish with the last text", [chunk(ROLE), text("a"), chunk({ content: "b" }, "stop")]],
    [
      "a finish with an empty text (vLLM)",
      [chunk(ROLE), text("a"), chunk({ content: "" }, "stop", { stop_reason: null, token_ids: null })],
    ],
    [
      "vendor members with nulls beside the delta",
      [
        { ...chunk(ROLE), prompt_token_ids: null, prompt_text: null },
        chunk({ content: "a" }, null, { token_ids: null }),
        STOP,
      ],
    ],
    [
      "content null in a delta with calls",
      [
        chunk({ role: "assistant", content: null }),
        chunk({
          content: null,
          tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
      ],
    ],
    [
      "a first call delta without arguments",
      [
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
      ],
    ],
    ["reasoning", [chunk(ROLE), chunk({ reasoning: "r" }), chunk({ reasoning_content: "s" }), text("a"), STOP]],
    ["a refusal", [chunk(ROLE), chunk({ refusal: "no" }), STOP]],
    [
      "logprobs",
      [
        chunk(ROLE),
        chunk({ content: "a" }, null, {
          logprobs: { content: [{ token: "a", logprob: -0.5, bytes: [97], top_logprobs: [] }], refusal: null },
        }),
        STOP,
      ],
    ],
    [
      "usage: null",
      [
        { ...chunk(ROLE), usage: null },
        { ...text("a"), usage: null },
        { ...STOP, usage: null },
      ],
    ],
    [
      "no logprobs member at all (llama.cpp)",
      [
        { ...HEAD, choices: [{ index: 0, delta: ROLE, finish_reason: null }] },
        { ...HEAD, choices: [{ finish_reason: null, index: 0, delta: { content: "a" } }] },
        { ...HEAD, choices: [{ finish_reason: "stop", index: 0, delta: {} }] },
      ],
    ],
    [
      "the usage chunk that was asked for",
      [chunk(ROLE), text("a"), STOP, usageChunk({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })],
      { includeUsage: true },
    ],
    [
      "a call although a function was named: stop",
      [
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }] }),
        STOP,
      ],
      { namedTool: true },
    ],
    ["content_filter", [chunk(ROLE), text("a"), chunk({}, "content_filter")]],
    ["length with nothing said", [chunk(ROLE), chunk({}, "length")]],
    [
      "function_call",
      [
        chunk({ role: "assistant", content: null, function_call: { name: "f", arguments: "" } }),
        chunk({ function_call: { arguments: "{}" } }),
        chunk({}, "function_call"),
      ],
    ],
    ["emoji, escapes, U+2028", [chunk(ROLE), text('😀\u2028"\\\n'), STOP]],
  ])("%s", (_name, events, shape = {}) => {
    const sent = wire([...events, DONE]);
    expect(stream(sent, { shape }).text).toBe(sent);
    expect(stream(sent, { shape, cut: bytewise }).text).toBe(sent);
  });

  it("keeps odd spacing, key order and number spelling", () => {
    const sent = `data: { "choices": [ {"finish_reason":null,"delta":{"role":"assistant","content":"x"},"index":0,"lp":1.50} ], "model":"m","object":"chat.completion.chunk","created":5,"id":"i" }\n\ndata: ${JSON.stringify({ ...STOP, id: "i" })}\n\ndata: [DONE]\n\n`;
    expect(stream(sent).text).toBe(sent);
  });

  it("repairs only the chunk that needs it, and there keeps the spelling of numbers", () => {
    const clean = wire([chunk(ROLE), text("a")]);
    const odd = `data: {"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"content":"b","reasoning":null},"logprobs":null,"finish_reason":null}],"seed":9007199254740993,"t":1.50}\n\n`;
    const { text: out } = stream(clean + odd + wire([text("c"), STOP, DONE]));
    expect(out.startsWith(clean)).toBe(true);
    expect(out.endsWith(wire([text("c"), STOP, DONE]))).toBe(true);
    expect(out).toContain('"seed":9007199254740993,"t":1.50');
    expect(out).toContain('"delta":{"content":"b"}');
  });
});

describe("framing", () => {
  it("is LF, `data: `, nothing else, whatever came", () => {
    const sent = `\ufeff: hi\r\nretry: 5\r\nid: 1\r\nevent: message\r\ndata:${JSON.stringify(chunk(ROLE))}\r\n\r\n: ping\n\nid: 2\rdata: ${JSON.stringify(text("a"))}\r\rdata: ${JSON.stringify(STOP)}\n\ndata: [DONE] \n\n`;
    for (const options of [{}, { cut: bytewise }])
      expect(stream(sent, options).text).toBe(wire([chunk(ROLE), text("a"), STOP, DONE]));
  });

  it("writes JSON that came in several data lines as one line", () => {
    const pretty = JSON.stringify(chunk({ role: "assistant", content: "a" }), null, 1);
    const sent = `${pretty
      .split("\n")
      .map((line) => `data: ${line}\n`)
      .join("")}\n${wire([STOP, DONE])}`;
    const out = stream(sent);
    expect(out.chunks).toEqual([chunk({ role: "assistant", content: "a" }), STOP]);
    expect(out.text.split("\n").every((line) => line === "" || line.startsWith("data: "))).toBe(true);
    expect(out.done).toBe(true);
  });

  it.each<[string, readonly unknown[]]>([
    ["no [DONE]", [chunk(ROLE), text("a"), STOP]],
    ["two [DONE]", [chunk(ROLE), text("a"), STOP, DONE, DONE]],
    ["bytes after [DONE]", [chunk(ROLE), text("a"), STOP, DONE, text("late"), { error: { message: "late" } }]],
    [
      "no event but JSON that says nothing between",
      [chunk(ROLE), {}, null, 5, [], "null", "", text("a"), true, '"x"', STOP, DONE],
    ],
    ["a broken event after the end", [chunk(ROLE), text("a"), STOP, DONE, "{"]],
  ])("ends in one [DONE]: %s", (_name, events) => {
    expect(streamOf(events).text).toBe(wire([chunk(ROLE), text("a"), STOP, DONE]));
  });

  it("is not misled by data that is nearly [DONE]", () => {
    const out = streamOf([chunk(ROLE), text("[DONE]"), STOP, DONE]);
    expect(out.text).toBe(wire([chunk(ROLE), text("[DONE]"), STOP, DONE]));
  });
});

describe("one constant id, created, model, object", () => {
  it("keeps the first ones", () => {
    const out = streamOf([
      { ...chunk(ROLE), id: "one", created: 7, model: "x" },
      { ...text("a"), id: "two", created: 8, model: "y", object: "other" },
      STOP,
      DONE,
    ]);
    expect(out.chunks.map(({ id, created, model, object }) => [id, created, model, object])).toEqual(
      Array(3).fill(["one", 7, "x", HEAD.object]),
    );
    expect(out.done).toBe(true);
  });

  it.each<[string, Json]>([
    ["missing", {}],
    ["empty", { id: "", created: 0, model: "", object: "" }],
    ["null", { id: null, created: null, model: null, object: null }],
    ["of another type", { id: 5, created: "x", model: {}, object: 3 }],
  ])("makes what is %s once", (_name, head) => {
    const { choices: first } = chunk(ROLE);
    const out = streamOf([
      { ...head, choices: first },
      { ...head, choices: text("a")["choices"] },
      { ...head, choices: STOP["choices"] },
      DONE,
    ]);
    const expected = { id: "chatcmpl-made1", created: 1_700_000_000, model: "asked-model", object: HEAD.object };
    expect(out.chunks).toHaveLength(3);
    for (const sent of out.chunks) expect(sent).toMatchObject(expected);
  });

  it("does not change an id that was made when a real one comes later", () => {
    const out = streamOf([{ ...chunk(ROLE), id: "" }, text("a"), STOP, DONE]);
    expect(new Set(out.chunks.map(({ id }) => id))).toEqual(new Set(["chatcmpl-made1"]));
  });

  it("makes created an integer", () => {
    const out = streamOf([{ ...chunk(ROLE), created: 5.75 }, { ...text("a"), created: 6.1 }, STOP, DONE]);
    expect(out.chunks.map(({ created }) => created)).toEqual([5, 5, 5]);
  });

  it("gives a usage chunk the same head", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const out = streamOf([chunk(ROLE), text("a"), STOP, { choices: [], usage }, DONE], {
      shape: { includeUsage: true },
    });
    expect(out.chunks.at(-1)).toEqual({ ...HEAD, choices: [], usage });
  });
});

describe("deltas", () => {
  const first = { role: "assistant", content: "" };
  it.each<[string, readonly unknown[], readonly unknown[]]>([
    [
      "role never sent: on the first delta",
      [chunk({ content: "a" }), text("b"), STOP, DONE],
      [{ role: "assistant", content: "a" }, { content: "b" }, "stop"],
    ],
    [
      "role in every delta: once",
      [
        chunk({ role: "assistant", content: "a" }),
        chunk({ role: "assistant", content: "b" }),
        chunk({ role: "assistant" }, "stop"),
        DONE,
      ],
      [{ role: "assistant", content: "a" }, { content: "b" }, "stop"],
    ],
    ["role empty", [chunk({ role: "", content: "a" }), STOP, DONE], [{ role: "assistant", content: "a" }, "stop"]],
    ["role null", [chunk({ role: null, content: "a" }), STOP, DONE], [{ role: "assistant", content: "a" }, "stop"]],
    [
      "another role",
      [chunk({ role: "model", content: "a" }), STOP, DONE],
      [{ role: "assistant", content: "a" }, "stop"],
    ],
    [
      "role late",
      [chunk({ content: "a" }), chunk({ role: "assistant" }), STOP, DONE],
      [{ role: "assistant", content: "a" }, "stop"],
    ],
    [
      "nulls but content and refusal are dropped",
      around(
        chunk({ content: "a", reasoning_content: null, tool_calls: null, function_call: null, audio: null, foo: null }),
      ),
      [first, { content: "a" }, "stop"],
    ],
    ["delta null", around(text("a"), chunk(null)), [first, { content: "a" }, "stop"]],
    [
      "delta missing",
      around(text("a"), { ...HEAD, choices: [{ index: 0, finish_reason: null }] }),
      [first, { content: "a" }, "stop"],
    ],
    ["empty tool_calls", around(chunk({ content: "a", tool_calls: [] })), [first, { content: "a" }, "stop"]],
    [
      "content a number",
      around(chunk({ content: 12 }), chunk({ content: 0 })),
      [first, { content: "12" }, { content: "0" }, "stop"],
    ],
    [
      "content a number keeps its digits",
      [
        `{"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":1.50},"finish_reason":null}]}`,
        STOP,
        DONE,
      ],
      [{ role: "assistant", content: "1.50" }, "stop"],
    ],
    [
      "content as text blocks",
      around(
        chunk({
          content: [
            { type: "text", text: "a" },
            { text: { value: "b" } },
            "c",
            4,
            { type: "image_url", image_url: { url: "x" } },
          ],
        }),
      ),
      [first, { content: "abc4" }, "stop"],
    ],
    [
      "content as one block",
      around(chunk({ content: { type: "text", text: "a" } })),
      [first, { content: "a" }, "stop"],
    ],
    [
      "reasoning as blocks",
      around(chunk({ reasoning: [{ type: "text", text: "r" }], reasoning_content: ["s"] }), text("a")),
      [first, { reasoning: "r", reasoning_content: "s" }, { content: "a" }, "stop"],
    ],
    [
      "other part types add no text",
      around(chunk({ content: [{ type: "reference", id: "t" }] }), text("a")),
      [first, { content: "a" }, "stop"],
    ],
    [
      "a choice read from message",
      [{ ...HEAD, choices: [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }] }, DONE],
      [{ role: "assistant", content: "a" }, "stop"],
    ],
    [
      "a choice read from text",
      [
        { ...HEAD, choices: [{ index: 0, text: "a", finish_reason: null }] },
        { ...HEAD, choices: [{ index: 0, text: "b", finish_reason: "stop" }] },
        DONE,
      ],
      [{ role: "assistant", content: "a" }, { content: "b" }, "stop"],
    ],
    [
      "a final message that repeats the answer",
      around(text("a"), text("b"), {
        ...HEAD,
        choices: [{ index: 0, message: { role: "assistant", content: "ab" }, finish_reason: "stop" }],
      }).toSpliced(-2, 1),
      [first, { content: "a" }, { content: "b" }, "stop"],
    ],
    [
      "a final message that repeats the reasoning too",
      [
        chunk(ROLE),
        chunk({ reasoning: "r" }),
        text("a"),
        {
          ...HEAD,
          choices: [{ index: 0, message: { role: "assistant", reasoning: "r", content: "a" }, finish_reason: "stop" }],
        },
        DONE,
      ],
      [first, { reasoning: "r" }, { content: "a" }, "stop"],
    ],
    [
      "vendor members of a delta pass",
      around(chunk({ content: "a", provider_specific: { x: [1] } })),
      [first, { content: "a", provider_specific: { x: [1] } }, "stop"],
    ],
    [
      "annotations and audio pass",
      around(
        chunk({ content: "a", annotations: [{ type: "url_citation" }] }),
        chunk({ audio: { id: "x", data: "QQ==" } }),
      ),
      [first, { content: "a", annotations: [{ type: "url_citation" }] }, { audio: { id: "x", data: "QQ==" } }, "stop"],
    ],
    [
      "deltas that say nothing vanish or are {}",
      around(chunk({}), text("a"), chunk({}), chunk({ reasoning: null })),
      [first, { content: "a" }, "stop"],
    ],
    [
      "finish_reason with no role ever sent",
      [chunk({}, "length"), DONE],
      [{ role: "assistant", content: "" }, "length"],
    ],
    [
      "__proto__ in a delta is only a key",
      [
        `{"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a","x":null,"__proto__":{"content":"z"}},"finish_reason":null}]}`,
        STOP,
        DONE,
      ],
      [JSON.parse('{"role":"assistant","content":"a","__proto__":{"content":"z"}}'), "stop"],
    ],
  ])("%s", (_name, events, expected) => {
    const out = streamOf(events);
    expect(told(out)).toEqual(expected);
    expect(out.done).toBe(true);
  });

  it("has a finish_reason and a delta object in every choice", () => {
    const out = streamOf([
      { ...HEAD, choices: [{ index: 0, delta: ROLE }] },
      { ...HEAD, choices: [{ index: 0, delta: { content: "a" }, finish_reason: "" }] },
      { ...HEAD, choices: [{ index: 0, delta: null, finish_reason: "stop" }] },
      DONE,
    ]);
    expect(choicesOf(out)).toEqual([
      [0, ROLE, null],
      [0, { content: "a" }, null],
      [0, {}, "stop"],
    ]);
  });

  it.each<[string, unknown]>([
    ["missing", undefined],
    ["null", null],
    ["text", "0"],
    ["negative", -1],
    ["a fraction", 0.5],
  ])("index %s: the place counts", (_name, index) => {
    const at = (delta: unknown, finish: unknown = null): Json => ({
      ...HEAD,
      choices: [{ index, delta, finish_reason: finish }],
    });
    expect(choicesOf(streamOf([at(ROLE), at({ content: "a" }), at({}, "stop"), DONE]))).toEqual([
      [0, ROLE, null],
      [0, { content: "a" }, null],
      [0, {}, "stop"],
    ]);
  });

  it("keeps logprobs of a delta that says nothing else", () => {
    const logprobs = { content: [{ token: "a", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null };
    const out = streamOf([
      chunk(ROLE),
      chunk({}, null, { logprobs }),
      chunk({ reasoning: null }, null, { logprobs }),
      STOP,
      DONE,
    ]);
    expect(out.chunks.map(({ choices }) => (choices as Json[])[0]?.["logprobs"] ?? null)).toEqual([
      null,
      logprobs,
      logprobs,
      null,
    ]);
  });

  it("says the logprobs of a chunk that becomes several only once", () => {
    const logprobs = { content: [{ token: "a", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null };
    const calls = ["f", "g"].map((name, index) => ({
      index,
      id: name,
      type: "function",
      function: { name, arguments: "{}" },
    }));
    const out = streamOf([
      chunk(ROLE),
      chunk({ content: "a", tool_calls: calls }, null, { logprobs }),
      chunk({}, "tool_calls"),
      DONE,
    ]);
    expect(out.chunks.filter(({ choices }) => (choices as Json[])[0]?.["logprobs"] !== null)).toHaveLength(1);
  });

  it("keeps the logprobs of a finish chunk with its text, once", () => {
    const logprobs = { content: [{ token: "b", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null };
    const out = streamOf([chunk(ROLE), chunk({ content: "b", reasoning: null }, "stop", { logprobs }), DONE]);
    expect(out.chunks.map(({ choices }) => (choices as Json[])[0])).toEqual([
      { index: 0, delta: ROLE, logprobs: null, finish_reason: null },
      { index: 0, delta: { content: "b" }, logprobs, finish_reason: null },
      { index: 0, delta: {}, logprobs: null, finish_reason: "stop" },
    ]);
  });

  it("passes JSON with NaN on as legal JSON", () => {
    const out = stream(
      `data: {"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"NaN"},"logprobs":{"content":[{"token":"NaN","logprob":-Infinity,"bytes":null,"top_logprobs":[]}],"refusal":null},"finish_reason":null}]}\n\n${wire([STOP, DONE])}`,
    );
    expect(out.text).toContain('"logprob":-9999.0');
    expect(told(out)).toEqual([{ role: "assistant", content: "NaN" }, "stop"]);
  });
});

describe("halves of characters", () => {
  const half = (unit: string): string =>
    JSON.stringify({
      ...HEAD,
      choices: [{ index: 0, delta: { content: "@" }, logprobs: null, finish_reason: null }],
    }).replace("@", unit);
  it("are put together", () => {
    expect(told(streamOf([chunk(ROLE), half("a\\ud83d"), half("\\ude00b"), STOP, DONE]))).toEqual([
      ROLE,
      { content: "a" },
      { content: "😀b" },
      "stop",
    ]);
  });

  it("are put together over a chunk that says something else, or nothing", () => {
    expect(
      told(
        streamOf([
          chunk(ROLE),
          half("\\ud83d"),
          chunk({}),
          chunk({ reasoning: "r" }),
          half(""),
          half("\\ude00"),
          STOP,
          DONE,
        ]),
      ),
    ).toEqual([ROLE, { reasoning: "r" }, { content: "" }, { content: "😀" }, "stop"]);
  });

  it("are put together in the arguments of a call", () => {
    const open = chunk({
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }],
    });
    const args = (piece: string): string =>
      JSON.stringify(chunk({ tool_calls: [{ index: 0, function: { arguments: "@" } }] })).replace("@", piece);
    const out = streamOf([chunk(ROLE), open, args('[\\"\\ud83d'), args('\\ude00\\"]'), chunk({}, "tool_calls"), DONE]);
    const pieces = told(out)
      .slice(2, -1)
      .map(
        (delta) => (delta as { tool_calls: { function: { arguments: string } }[] }).tool_calls[0]?.function.arguments,
      );
    expect(pieces.join("")).toBe('["😀"]');
    expect(pieces.every((piece) => piece?.isWellFormed())).toBe(true);
  });

  it("wait in each choice for its own", () => {
    const at = (index: number, unit: string): string => half(unit).replace('"index":0', `"index":${index}`);
    const out = streamOf(
      [
        choiceChunk(0, ROLE),
        choiceChunk(1, ROLE),
        at(0, "\\ud83d"),
        at(1, "\\ud83c"),
        at(0, "\\ude00"),
        at(1, "\\udf89"),
        choiceChunk(0, {}, "stop"),
        choiceChunk(1, {}, "stop"),
        DONE,
      ],
      { shape: { n: 2 } },
    );
    expect(
      choicesOf(out)
        .filter(([, delta]) => delta["content"] !== undefined)
        .slice(2),
    ).toEqual([
      [0, { content: "😀" }, null],
      [1, { content: "🎉" }, null],
    ]);
  });

  it("never found the other half: it leaves before the finish, nothing is lost", () => {
    const out = streamOf([chunk(ROLE), half("a\\ud83d"), STOP, DONE]);
    expect(
      told(out)
        .map((delta) => (typeof delta === "string" ? delta : (delta as Json)["content"]))
        .join("|"),
    ).toBe("|a|\ud83d|stop");
    expect(out.done).toBe(true);
  });
});

describe("finish", () => {
  it("a finish in every chunk: once, at the end", () => {
    expect(
      told(
        streamOf([
          chunk({ role: "assistant", content: "a" }, "stop"),
          chunk({ content: "b" }, "stop"),
          chunk({}, "stop"),
          DONE,
        ]),
      ),
    ).toEqual([{ role: "assistant", content: "a" }, { content: "b" }, "stop"]);
  });
  it("text after a finish goes before it", () => {
    expect(told(streamOf([chunk(ROLE), text("a"), STOP, text("b"), DONE]))).toEqual([
      ROLE,
      { content: "a" },
      { content: "b" },
      "stop",
    ]);
  });
  it("text after a finish that brought text: in the order received", () => {
    expect(told(streamOf([chunk(ROLE), chunk({ content: "a" }, "stop"), text("b"), DONE]))).toEqual([
      ROLE,
      { content: "a" },
      { content: "b" },
      "stop",
    ]);
  });
  it("never goes back to null", () => {
    expect(told(streamOf([chunk(ROLE), text("a"), chunk({}, "length"), chunk({}, null), DONE]))).toEqual([
      ROLE,
      { content: "a" },
      "length",
    ]);
  });
  it("length stays length, whatever comes later", () => {
    expect(told(streamOf([chunk(ROLE), text("a"), chunk({}, "length"), STOP, DONE]))).toEqual([
      ROLE,
      { content: "a" },
      "length",
    ]);
  });
  it("a call that comes after the finish makes it tool_calls", () => {
    const call = chunk({
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    });
    expect(told(streamOf([chunk(ROLE), STOP, call, DONE])).at(-1)).toBe("tool_calls");
  });
  it("vendor members of the finish choice stay on it", () => {
    const out = streamOf([
      chunk(ROLE),
      text("a"),
      chunk({ content: "b" }, "eos", { stop_reason: 128009, matched_stop: "x" }),
      DONE,
    ]);
    expect(out.chunks.at(-1)).toHaveProperty("choices.0");
    expect((out.chunks.at(-1) as { choices: Json[] }).choices[0]).toMatchObject({
      delta: {},
      finish_reason: "stop",
      stop_reason: 128009,
      matched_stop: "x",
    });
  });
  it("two full answers in one stream: the first one, once", () => {
    const out = streamOf([
      chunk(ROLE),
      text("a"),
      STOP,
      { ...chunk(ROLE), id: "x2" },
      { ...text("a"), id: "x2" },
      { ...STOP, id: "x2" },
      DONE,
    ]);
    expect(out.chunks.filter(({ choices }) => (choices as Json[])[0]?.["finish_reason"] !== null)).toHaveLength(1);
    expect(out.done).toBe(true);
  });
});

describe("several choices", () => {
  const two = { shape: { n: 2 } };
  it("leave as they come, each with its role and its finish", () => {
    const sent = [
      choiceChunk(0, ROLE),
      choiceChunk(1, ROLE),
      choiceChunk(1, { content: "b" }),
      choiceChunk(0, { content: "a" }),
    ];
    expect(choicesOf(streamOf([...sent, choiceChunk(1, {}, "stop"), choiceChunk(0, {}, "length"), DONE], two))).toEqual(
      [
        [0, ROLE, null],
        [1, ROLE, null],
        [1, { content: "b" }, null],
        [0, { content: "a" }, null],
        [0, {}, "length"],
        [1, {}, "stop"],
      ],
    );
  });
  it("begin in order even if the upstream began with another one", () => {
    const out = streamOf(
      [
        choiceChunk(1, ROLE),
        choiceChunk(1, { content: "b" }),
        choiceChunk(0, ROLE),
        choiceChunk(0, { content: "a" }),
        choiceChunk(0, {}, "stop"),
        choiceChunk(1, {}, "stop"),
        DONE,
      ],
      two,
    );
    const order = choicesOf(out).map(([index]) => index);
    expect(order.indexOf(0)).toBeLessThan(order.indexOf(1));
    for (const index of [0, 1]) {
      const own = choicesOf(out).filter(([at]) => at === index);
      expect(own.filter(([, delta]) => delta["role"] !== undefined)).toHaveLength(1);
      expect(own[0]?.[1]["role"]).toBe("assistant");
      expect(own.map(([, delta]) => delta["content"] ?? "").join("")).toBe(index === 0 ? "a" : "b");
      expect(own.filter(([, , finish]) => finish !== null)).toHaveLength(1);
    }
  });
  it("in one chunk that is clean leave together", () => {
    const both = {
      ...HEAD,
      choices: [0, 1].map((index) => ({ index, delta: { content: "x" }, logprobs: null, finish_reason: null })),
    };
    const sent = wire([
      choiceChunk(0, ROLE),
      choiceChunk(1, ROLE),
      both,
      choiceChunk(0, {}, "stop"),
      choiceChunk(1, {}, "stop"),
      DONE,
    ]);
    expect(stream(sent, two).text).toBe(sent);
  });
  it("in one chunk that is not clean lose nothing", () => {
    const both = {
      ...HEAD,
      choices: [0, 1].map((index) => ({
        index,
        delta: { role: "assistant", content: String(index), x: null },
        finish_reason: "stop",
      })),
    };
    expect(choicesOf(streamOf([both, DONE], two))).toEqual([
      [0, { role: "assistant", content: "0" }, null],
      [1, { role: "assistant", content: "1" }, null],
      [0, {}, "stop"],
      [1, {}, "stop"],
    ]);
  });
  it.each([
    ["one choice at index 1 for n = 1", 1],
    ["at index 7", 7],
  ])("%s: it is choice 0", (_name, index) => {
    expect(
      choicesOf(
        streamOf([
          choiceChunk(index, ROLE),
          choiceChunk(index, { content: "a" }),
          choiceChunk(index, {}, "stop"),
          DONE,
        ]),
      ),
    ).toEqual([
      [0, ROLE, null],
      [0, { content: "a" }, null],
      [0, {}, "stop"],
    ]);
  });
  it("one of them never finishes: the answer is cut", () => {
    const out = streamOf(
      [choiceChunk(0, ROLE), choiceChunk(1, ROLE), choiceChunk(0, { content: "a" }), choiceChunk(0, {}, "stop"), DONE],
      two,
    );
    expect([out.done, out.failed]).toEqual([false, "upstream_cut"]);
  });
  it("one of them never came at all: the answer is cut when the body broke off, but not after [DONE]", () => {
    const out = streamOf([choiceChunk(0, ROLE), choiceChunk(0, { content: "a" }), choiceChunk(0, {}, "stop")], {
      ...two,
      broken: true,
    });
    expect([out.done, out.failed]).toEqual([false, "upstream_cut"]);
  });
  it("indexes without end are refused, not remembered", () => {
    const out = streamOf(
      Array.from({ length: 300 }, (_, index) => choiceChunk(index, { role: "assistant", content: "x" })),
    );
    expect([out.done, out.failed]).toEqual([false, "upstream_invalid"]);
  });
});

describe("usage", () => {
  const counts = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const asked = { shape: { includeUsage: true } };
  const usagesOf = (events: readonly unknown[], options: StreamOptions = {}): unknown[] =>
    streamOf(events, options).chunks.map(({ usage, choices }) => [(choices as unknown[]).length, usage ?? null]);

  it("does not leave when nobody asked", () => {
    expect(usagesOf([{ ...chunk(ROLE), usage: counts }, text("a"), STOP, usageChunk(counts), DONE])).toEqual([
      [1, null],
      [1, null],
      [1, null],
    ]);
  });
  it("that rides on every chunk leaves once, at the end", () => {
    expect(
      usagesOf(
        [
          { ...chunk(ROLE), usage: { ...counts, completion_tokens: 0, total_tokens: 1 } },
          { ...text("a"), usage: counts },
          { ...STOP, usage: counts },
          DONE,
        ],
        asked,
      ),
    ).toEqual([
      [1, null],
      [1, null],
      [1, null],
      [0, counts],
    ]);
  });
  it("that rides on the finish chunk becomes a chunk of its own", () => {
    const out = streamOf([chunk(ROLE), text("a"), { ...STOP, usage: counts, timings: { x: 1 } }, DONE], asked);
    expect(out.chunks.at(-1)).toMatchObject({ choices: [], usage: counts });
    expect(out.chunks.at(-2)).toMatchObject({ timings: { x: 1 } });
    expect(out.chunks.at(-2)).not.toHaveProperty("usage");
  });
  it("that comes before the finish still leaves last", () => {
    expect(usagesOf([chunk(ROLE), text("a"), usageChunk(counts), STOP, DONE], asked)).toEqual([
      [1, null],
      [1, null],
      [1, null],
      [0, counts],
    ]);
  });
  it("asked for and never sent: no usage chunk is invented", () => {
    expect(usagesOf([chunk(ROLE), text("a"), STOP, DONE], asked)).toEqual([
      [1, null],
      [1, null],
      [1, null],
    ]);
  });
  it("keeps the vendor members of the usage chunk", () => {
    const sent = {
      ...usageChunk({ ...counts, prompt_tokens_details: { cached_tokens: 1 } }),
      system_fingerprint: "fp",
    };
    expect(streamOf([chunk(ROLE), text("a"), STOP, sent, DONE], asked).chunks.at(-1)).toEqual(sent);
  });
  it("a chunk without choices and usage (Azure's first) does not leave", () => {
    expect(
      told(streamOf([{ ...HEAD, id: "", choices: [], prompt_filter_results: [] }, chunk(ROLE), text("a"), STOP, DONE])),
    ).toEqual([ROLE, { content: "a" }, "stop"]);
  });
});

describe("how an answer fails", () => {
  it.each<[string, readonly unknown[], string, readonly unknown[]]>([
    ["no events", [], "upstream_invalid", []],
    ["[DONE] alone", [DONE], "upstream_invalid", []],
    ["nothing but events that say nothing", [{}, null, 5, [], DONE], "upstream_invalid", []],
    ["no finish before [DONE]", [chunk(ROLE), text("a"), DONE], "upstream_cut", [ROLE, { content: "a" }]],
    ["no finish before the end", [chunk(ROLE), text("a")], "upstream_cut", [ROLE, { content: "a" }]],
    ["finish abort", [chunk(ROLE), text("a"), chunk({}, "abort"), DONE], "upstream_failed", [ROLE, { content: "a" }]],
    [
      "finish abort with a last text",
      [chunk(ROLE), chunk({ content: "a" }, "abort"), DONE],
      "upstream_failed",
      [ROLE, { content: "a" }],
    ],
    ["finish error", [chunk(ROLE), text("a"), chunk({}, "error"), DONE], "upstream_failed", [ROLE, { content: "a" }]],
    ["finish load", [chunk(ROLE), chunk({}, "load"), DONE], "upstream_failed", [ROLE]],
    ["tool_calls without calls or text", [chunk(ROLE), chunk({}, "tool_calls"), DONE], "upstream_invalid", [ROLE]],
    [
      "an event that is broken JSON",
      [chunk(ROLE), text("a"), '{"id":', DONE],
      "upstream_invalid",
      [ROLE, { content: "a" }],
    ],
    [
      "a call whose name never comes",
      [
        chunk(ROLE),
        chunk({ tool_calls: [{ index: 0, id: "c", function: { arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
        DONE,
      ],
      "upstream_invalid",
      [ROLE],
    ],
  ])("%s", (_name, events, code, expected) => {
    const out = streamOf(events);
    expect([out.done, out.failed]).toEqual([false, code]);
    expect(told(out)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    [
      "an envelope",
      { error: { message: "Internal server error", type: "InternalServerError", param: null, code: 500 } },
    ],
    ["a text", { error: "Internal server error" }],
    ["flat", { object: "error", message: "Internal server error", type: "x", code: 500 }],
    ["nested and flat", { error: { object: "error", message: "Internal server error", code: 500 } }],
    ["typed", { type: "error", error: { message: "Internal server error" } }],
    ["plain text", "Internal server error"],
  ])("an error event in the middle: %s", (_name, event) => {
    const out = streamOf([chunk(ROLE), text("a"), event, DONE]);
    expect(told(out)).toEqual([ROLE, { content: "a" }]);
    expect(out.done).toBe(false);
    expect(out.error?.message).toBe("Internal server error");
  });

  it("an error that shares its frame with a last delta: the text leaves, then it fails", () => {
    const out = streamOf([
      chunk(ROLE),
      { ...chunk({ content: "b" }, "error"), error: { message: "gone", code: 502 } },
      DONE,
    ]);
    expect(told(out)).toEqual([ROLE, { content: "b" }]);
    expect(out.chunks.every((sent) => !("error" in sent))).toBe(true);
    expect([out.done, out.error?.message]).toEqual([false, "gone"]);
  });

  it("error: null is no error", () => {
    const out = streamOf([
      { ...chunk(ROLE), error: null },
      { ...text("a"), error: null },
      { ...STOP, error: null },
      DONE,
    ]);
    expect([told(out), out.done]).toEqual([[ROLE, { content: "a" }, "stop"], true]);
  });

  it.each<[string, string]>([
    ["event: error", 'event: error\ndata: {"message":"gone"}\n\n'],
    ["event: error with a text", "event: error\ndata: gone\n\n"],
    ["an error field", 'error: {"code":500,"message":"gone","type":"server_error"}\n\n'],
  ])("%s", (_name, event) => {
    const out = stream(wire([chunk(ROLE), text("a")]) + event + wire([DONE]));
    expect([told(out), out.done, out.error?.message]).toEqual([[ROLE, { content: "a" }], false, "gone"]);
  });

  it("an event of another name that carries no chunk is skipped", () => {
    const out = stream(`event: ping\ndata: {}\n\nevent: ping\ndata: {"type":"ping"}\n\n${wire(around(text("a")))}`);
    expect([told(out), out.done]).toEqual([[ROLE, { content: "a" }, "stop"], true]);
  });

  it("a broken body: everything received leaves, no finish, no [DONE]", () => {
    const out = stream(`${wire([chunk(ROLE), text("a")])}data: ${JSON.stringify(text("b"))}`, { broken: true });
    expect([told(out), out.done, out.failed]).toEqual([
      [ROLE, { content: "a" }, { content: "b" }],
      false,
      "upstream_cut",
    ]);
  });

  it("a body cut within an event is cut, not invalid", () => {
    for (const broken of [true, false]) {
      const out = stream(`${wire([chunk(ROLE), text("a")])}data: {"id":"x","choi`, { broken });
      expect([told(out), out.done, out.failed]).toEqual([[ROLE, { content: "a" }], false, "upstream_cut"]);
    }
  });

  it("a body cut within an event after the finish is complete", () => {
    expect(stream(`${wire([chunk(ROLE), text("a"), STOP])}data: [DO`, { broken: true }).text).toBe(
      wire([chunk(ROLE), text("a"), STOP, DONE]),
    );
  });

  it("a finish that waits leaves its text when the answer fails, and not its finish", () => {
    const out = streamOf([choiceChunk(0, ROLE), choiceChunk(1, ROLE), choiceChunk(0, { content: "last" }, "stop")], {
      shape: { n: 2 },
      broken: true,
    });
    expect(choicesOf(out)).toEqual([
      [0, ROLE, null],
      [1, ROLE, null],
      [0, { content: "last" }, null],
    ]);
    expect(out.failed).toBe("upstream_cut");
  });

  it("an event beyond the limit fails the answer after what came before", () => {
    const out = stream(wire([chunk(ROLE), text("a")]) + `data: ${"x".repeat(1_100_000)}`, {
      cut: (bytes) => [bytes.slice(0, 500), bytes.slice(500)],
    });
    expect([out.done, out.failed, told(out)]).toEqual([false, "upstream_too_large", [ROLE, { content: "a" }]]);
  });

  it("a chunk nested too deeply to be written anew fails", () => {
    const deep = `${"[".repeat(3000)}${"]".repeat(3000)}`;
    const out = stream(
      `data: {"id":"chatcmpl-u","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"a","x":null},"finish_reason":null}],"deep":${deep}}\n\n`,
    );
    expect([out.done, out.failed]).toEqual([false, "upstream_invalid"]);
  });
});
