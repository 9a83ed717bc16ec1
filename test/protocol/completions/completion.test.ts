import { describe, expect, it } from "vitest";
import { conformTextCompletion } from "../../../src/protocol/completions/completion.ts";
import { readCompletion } from "../../conformance/strict.ts";
import { HEAD, identity } from "./through.ts";

const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const CHOICE = { index: 0, text: "a", logprobs: null, finish_reason: "stop" };
const body = (...choices: unknown[]): Record<string, unknown> => ({ ...HEAD, choices, usage: USAGE });
const conform = (value: unknown, more: object = {}): ReturnType<typeof conformTextCompletion> =>
  conformTextCompletion(typeof value === "string" ? value : JSON.stringify(value), { ...identity(), ...more });

describe("a whole text completion", () => {
  it("leaves as it came if it is clean", () => {
    const text =
      ` ${JSON.stringify({ ...body(CHOICE, { ...CHOICE, index: 1, finish_reason: "length" }), x: 1 })}`.replace(
        '"x":1',
        '"x":1.50',
      );
    expect(conform(text)).toMatchObject({ ok: true, value: { text } });
  });

  it.each<[string, unknown, object]>([
    ["a foreign finish", body({ ...CHOICE, finish_reason: "eos" }), { choices: [{ finish_reason: "stop" }] }],
    ["no logprobs", body({ ...CHOICE, logprobs: undefined }), { choices: [{ logprobs: null }] }],
    ["text null", body({ ...CHOICE, text: null }), { choices: [{ text: "" }] }],
    [
      "a message",
      body({ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }),
      { choices: [CHOICE] },
    ],
    [
      "no indexes",
      body({ ...CHOICE, index: undefined }, { ...CHOICE, index: undefined, text: "b" }),
      { choices: [{ index: 0 }, { index: 1, text: "b" }] },
    ],
    [
      "the order",
      body({ ...CHOICE, index: 1, text: "b" }, CHOICE),
      {
        choices: [
          { index: 0, text: "a" },
          { index: 1, text: "b" },
        ],
      },
    ],
    [
      "no head",
      { choices: [CHOICE] },
      { id: "cmpl-made1", object: "text_completion", created: 1_700_000_000, model: "asked-model" },
    ],
    ["two counts of three", { ...body(CHOICE), usage: { prompt_tokens: 1, total_tokens: 3 } }, { usage: USAGE }],
    ["error: null", { ...body(CHOICE), error: null }, { choices: [CHOICE] }],
  ])("is repaired: %s", (_what, value, expected) => {
    const conformed = conform(value);
    if (!conformed.ok) throw new Error(conformed.error.error.error.message);
    expect(JSON.parse(conformed.value.text)).toMatchObject(expected);
    expect(readCompletion(Buffer.from(conformed.value.text), { legacy: true }).problems).toEqual([]);
  });

  it("names the model that it is told to", () => {
    expect(conform(body(CHOICE), { reportedModel: "mine" })).toMatchObject({
      ok: true,
      value: { body: { model: "mine" } },
    });
  });

  it.each<[string, unknown, string | null]>([
    ["nothing", "", "upstream_invalid"],
    ["no JSON", "<html>", "upstream_invalid"],
    ["a list", "[]", "upstream_invalid"],
    ["no choices", { ...HEAD, choices: [] }, "upstream_invalid"],
    ["a choice without a text", body({ index: 0, finish_reason: "stop" }), "upstream_invalid"],
    ["no finish", body({ ...CHOICE, finish_reason: null }), "upstream_cut"],
    ["a finish that gives up", body({ ...CHOICE, finish_reason: "error" }), "upstream_failed"],
    ["an error under 200", { error: { message: "no", type: "invalid_request_error", code: "c", param: null } }, "c"],
  ])("is a failure: %s", (_what, value, code) => {
    expect(conform(value)).toMatchObject({ ok: false, error: { error: { error: { code } } } });
  });
});
