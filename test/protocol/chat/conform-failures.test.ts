import { describe, expect, it } from "vitest";
import { createAnswerStream } from "../../../src/protocol/answer-stream.ts";
import { createConform } from "../../../src/protocol/chat/conform.ts";
import { bytesOf } from "../sse/cut.ts";
import {
  around,
  choiceChunk,
  choicesOf,
  chunk,
  DONE,
  ROLE,
  STOP,
  stream,
  streamOf,
  textChunk,
  told,
  wire,
  identity,
  SHAPE,
} from "./streamed.ts";

describe("how an answer fails", () => {
  it.each<[string, readonly unknown[], string, readonly unknown[]]>([
    ["no events", [], "upstream_invalid", []],
    ["[DONE] alone", [DONE], "upstream_invalid", []],
    ["nothing but events that say nothing", [{}, null, 5, [], DONE], "upstream_invalid", []],
    ["no finish before [DONE]", [chunk(ROLE), textChunk("a"), DONE], "upstream_cut", [ROLE, { content: "a" }]],
    ["no finish before the end", [chunk(ROLE), textChunk("a")], "upstream_cut", [ROLE, { content: "a" }]],
    [
      "finish abort",
      [chunk(ROLE), textChunk("a"), chunk({}, "abort"), DONE],
      "upstream_failed",
      [ROLE, { content: "a" }],
    ],
    [
      "finish abort with a last text",
      [chunk(ROLE), chunk({ content: "a" }, "abort"), DONE],
      "upstream_failed",
      [ROLE, { content: "a" }],
    ],
    [
      "finish error",
      [chunk(ROLE), textChunk("a"), chunk({}, "error"), DONE],
      "upstream_failed",
      [ROLE, { content: "a" }],
    ],
    ["finish load", [chunk(ROLE), chunk({}, "load"), DONE], "upstream_failed", [ROLE]],
    ["tool_calls without calls or text", [chunk(ROLE), chunk({}, "tool_calls"), DONE], "upstream_invalid", [ROLE]],
    [
      "an event that is broken JSON",
      [chunk(ROLE), textChunk("a"), '{"id":', DONE],
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
    const out = streamOf([chunk(ROLE), textChunk("a"), event, DONE]);
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
      { ...textChunk("a"), error: null },
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
    const out = stream(wire([chunk(ROLE), textChunk("a")]) + event + wire([DONE]));
    expect([told(out), out.done, out.error?.message]).toEqual([[ROLE, { content: "a" }], false, "gone"]);
  });

  it("an event of another name that carries no chunk is skipped", () => {
    const out = stream(
      `event: ping\ndata: {}\n\nevent: ping\ndata: {"type":"ping"}\n\n${wire(around(textChunk("a")))}`,
    );
    expect([told(out), out.done]).toEqual([[ROLE, { content: "a" }, "stop"], true]);
  });

  it("a broken body: everything received leaves, no finish, no [DONE]", () => {
    const out = stream(`${wire([chunk(ROLE), textChunk("a")])}data: ${JSON.stringify(textChunk("b"))}`, {
      broken: true,
    });
    expect([told(out), out.done, out.failed]).toEqual([
      [ROLE, { content: "a" }, { content: "b" }],
      false,
      "upstream_cut",
    ]);
  });

  it("a body cut within an event is cut, not invalid", () => {
    for (const broken of [true, false]) {
      const out = stream(`${wire([chunk(ROLE), textChunk("a")])}data: {"id":"x","choi`, { broken });
      expect([told(out), out.done, out.failed]).toEqual([[ROLE, { content: "a" }], false, "upstream_cut"]);
    }
  });

  it("a body cut within an event after the finish is complete", () => {
    expect(stream(`${wire([chunk(ROLE), textChunk("a"), STOP])}data: [DO`, { broken: true }).text).toBe(
      wire([chunk(ROLE), textChunk("a"), STOP, DONE]),
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
    const out = stream(wire([chunk(ROLE), textChunk("a")]) + `data: ${"x".repeat(1_100_000)}`, {
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

  it("the end of a call without any call commits to nothing, in whatever reads it comes", () => {
    const chat = createAnswerStream(
      (sink, runs) => createConform({ shape: SHAPE, identity: identity(), runs }, sink),
      1_000_000,
    );
    for (const event of [chunk(ROLE), chunk({}, "tool_calls")]) {
      chat.feed(bytesOf(wire([event])));
      expect(chat.state.answered).toBe(false);
    }
    chat.feed(bytesOf(wire([DONE])));
    expect(chat.state).toMatchObject({ answered: false, outcome: { kind: "failed" } });
  });
});
