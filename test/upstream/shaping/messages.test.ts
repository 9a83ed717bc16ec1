import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../../src/upstream/provider.ts";
import { invalid, shaped, unsupported } from "./shaping.ts";

type Can = Partial<Capabilities>;
const call = (args: unknown, id = "call_abcdefgh"): object => ({
  id,
  type: "function",
  function: { name: "f", arguments: args },
});
const calling = (args: unknown, id?: string): object => ({
  role: "assistant",
  content: null,
  tool_calls: [call(args, id)],
});
const user = { role: "user", content: "x" };

const unchanged = (messages: readonly object[], can: Can): void =>
  expect(shaped({ messages }, { can })).toEqual({ messages, changed: "" });

describe("instruction-role", () => {
  const messages = [{ role: "developer", content: "a", name: "n" }, { role: "system", content: "b" }, user];
  it("developer to system", () => {
    expect(shaped({ messages }, { can: { instruction_role: "system" } })).toEqual({
      messages: [{ role: "system", content: "a", name: "n" }, messages[1], user],
      changed: "developer->system",
    });
  });
  it("system to developer", () => {
    expect(shaped({ messages }, { can: { instruction_role: "developer" } })).toEqual({
      messages: [messages[0], { role: "developer", content: "b" }, user],
      changed: "system->developer",
    });
  });
  it("as it is", () => unchanged(messages, {}));
  it("other roles stay", () => unchanged([{ role: "critic", content: "x" }], { instruction_role: "system" }));
});

describe("content-parts", () => {
  const can: Can = { content_parts: false };
  const text = (value: string): object => ({ type: "text", text: value });
  it("texts are joined", () => {
    const messages = [
      { role: "system", content: [text("a")] },
      { role: "user", content: [text("a"), text("b")] },
      { role: "tool", tool_call_id: "c", content: [text("r")] },
      { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
      user,
    ];
    expect(shaped({ messages }, { can })).toEqual({
      messages: [
        { role: "system", content: "a" },
        { role: "user", content: "a\nb" },
        { role: "tool", tool_call_id: "c", content: "r" },
        { role: "assistant", content: "no" },
        user,
      ],
      changed: "content_parts->text",
    });
  });
  it("an image is refused by its place", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
    expect(shaped({ messages: [user, { role: "user", content: [text("a"), image] }] }, { can })).toEqual(
      unsupported("messages[1].content[1]"),
    );
    expect(
      shaped({ messages: [{ role: "user", content: [image] }] }, { can, target: { unsupported: "drop" } }),
    ).toEqual(unsupported("messages[0].content[0]"));
  });
  it("audio and unknown parts are", () => {
    for (const type of ["input_audio", "file", "hologram"])
      expect(shaped({ messages: [{ role: "user", content: [{ type, text: "x" }] }] }, { can })).toEqual(
        unsupported("messages[0].content[0]"),
      );
  });
  it("as they are", () => unchanged([{ role: "user", content: [text("a")] }], {}));
});

describe("call-arguments", () => {
  const strict: Can = { empty_arguments: false, invalid_arguments: false };
  it.each(["", " ", null, undefined])("empty ones (%j) become an object", (args) => {
    expect(shaped({ messages: [calling(args)] }, { can: strict })).toEqual({
      messages: [calling("{}")],
      changed: "~tool_calls.arguments",
    });
  });
  it("broken ones are refused by their place", () => {
    const two = { role: "assistant", content: null, tool_calls: [call("{}"), call('{"a":')] };
    expect(shaped({ messages: [user, two] }, { can: strict })).toEqual(invalid("messages[1].tool_calls[1]"));
  });
  it("and pass where they are taken", () => unchanged([calling("{oops"), calling("")], {}));
  it("broken ones pass where only empty ones are refused", () =>
    unchanged([calling("{oops")], { empty_arguments: false }));
  it("digits inside are not touched", () => unchanged([calling('{"id":2512292042121000001}')], strict));
});

describe("call-ids", () => {
  const can: Can = { tool_call_ids: "alphanumeric_9" };
  it("foreign ones are made to fit, the same way for a call and its result", () => {
    const messages = [calling("{}", "call_1"), { role: "tool", tool_call_id: "call_1", content: "r" }];
    const result = shaped({ messages }, { can }) as {
      messages: [{ tool_calls: [{ id: string }] }, { tool_call_id: string }];
      changed: string;
    };
    expect(result.changed).toBe("~tool_calls.id");
    expect(result.messages[0].tool_calls[0].id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(result.messages[1].tool_call_id).toBe(result.messages[0].tool_calls[0].id);
  });
  it("those that fit stay", () =>
    unchanged([calling("{}", "abcDEF123"), { role: "tool", tool_call_id: "abcDEF123", content: "r" }], can));
  it("others do where any will do", () => unchanged([calling("{}", "call_1")], {}));
});

describe("reasoning-history", () => {
  const thought = { role: "assistant", content: "x", reasoning: "a", reasoning_content: "a" };
  it.each<[Capabilities["reasoning_history"], object, string]>([
    ["none", { role: "assistant", content: "x" }, "-messages.reasoning, -messages.reasoning_content"],
    ["reasoning", { role: "assistant", content: "x", reasoning: "a" }, "-messages.reasoning_content"],
    ["reasoning_content", { role: "assistant", content: "x", reasoning_content: "a" }, "-messages.reasoning"],
    ["any", thought, ""],
  ])("for %s", (reasoning_history, left, changed) => {
    expect(shaped({ messages: [thought, user] }, { can: { reasoning_history } })).toEqual({
      messages: [left, user],
      changed,
    });
  });
  it("only of the assistant", () =>
    unchanged([{ role: "user", content: "x", reasoning: "mine" }], { reasoning_history: "none" }));
});
