import { describe, expect, it } from "vitest";
import {
  around,
  choiceChunk,
  choicesOf,
  chunk,
  DONE,
  HEAD,
  ROLE,
  STOP,
  stream,
  streamOf,
  textChunk,
  told,
  wire,
  type Json,
} from "./streamed.ts";

describe("deltas", () => {
  const first = { role: "assistant", content: "" };
  it.each<[string, readonly unknown[], readonly unknown[]]>([
    [
      "role never sent: on the first delta",
      [chunk({ content: "a" }), textChunk("b"), STOP, DONE],
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
    ["delta null", around(textChunk("a"), chunk(null)), [first, { content: "a" }, "stop"]],
    [
      "delta missing",
      around(textChunk("a"), { ...HEAD, choices: [{ index: 0, finish_reason: null }] }),
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
      around(chunk({ reasoning: [{ type: "text", text: "r" }], reasoning_content: ["s"] }), textChunk("a")),
      [first, { reasoning: "r", reasoning_content: "s" }, { content: "a" }, "stop"],
    ],
    [
      "other part types add no text",
      around(chunk({ content: [{ type: "reference", id: "t" }] }), textChunk("a")),
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
      around(textChunk("a"), textChunk("b"), {
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
        textChunk("a"),
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
      around(chunk({}), textChunk("a"), chunk({}), chunk({ reasoning: null })),
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
