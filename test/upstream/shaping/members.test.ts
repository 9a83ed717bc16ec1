import { describe, expect, it } from "vitest";
import { vllm } from "../../../src/upstream/providers/vllm.ts";
import { cacheSaltOf } from "../../../src/upstream/shaping/cache-salt.ts";
import { changedHeader } from "../../../src/upstream/shaping/shape.ts";
import { shaped, shapedText, type Setting } from "./shaping.ts";

describe("null-members and empty-members", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ["nulls at the top", { temperature: null, stop: null, future: null }, {}, "-temperature, -stop, -future"],
    ["empty lists of tools and stops", { tools: [], stop: [], functions: [] }, {}, "-tools, -functions, -stop"],
    ["an empty stop, user and choice", { stop: "", user: "", tool_choice: "" }, {}, "-stop, -user, -tool_choice"],
    [
      "what would be refused without tools",
      { tools: [], tool_choice: "auto", parallel_tool_calls: true },
      {},
      "-tools, -tool_choice, -parallel_tool_calls",
    ],
    [
      "a forced choice without tools is the client's fault to hear of",
      { tools: [], tool_choice: "required" },
      { tool_choice: "required" },
      "-tools",
    ],
    ["a choice beside no tools at all", { tool_choice: "none" }, { tool_choice: "none" }, ""],
    ["false and 0 say something", { logprobs: false, seed: 0 }, { logprobs: false, seed: 0 }, ""],
    [
      "metadata and template arguments",
      { metadata: {}, chat_template_kwargs: { a: null, b: [] } },
      { metadata: {}, chat_template_kwargs: { a: null, b: [] } },
      "",
    ],
    ["unknown empty things", { future: [], other: {}, third: "" }, { future: [], other: {}, third: "" }, ""],
    [
      "schemas",
      {
        tools: [
          { type: "function", function: { name: "f", parameters: { enum: [null], required: [], default: null } } },
        ],
      },
      {
        tools: [
          { type: "function", function: { name: "f", parameters: { enum: [null], required: [], default: null } } },
        ],
      },
      "",
    ],
  ])("%s", (_name, members, left, changed) => expect(shaped(members)).toEqual({ ...left, changed }));

  it("leaves messages alone", () => {
    const messages = [
      { role: "assistant", content: "" },
      { role: "assistant", content: null, tool_calls: [], refusal: null },
    ];
    expect(shaped({ messages })).toEqual({ messages, changed: "" });
  });
});

describe("privileged-members", () => {
  it.each(["priority", "kv_transfer_params", "request_id", "vllm_xargs"])("%s is not for everybody", (name) => {
    expect(shaped({ [name]: 1 }, { provider: vllm })).toEqual(["privileged_parameter", name]);
    expect(shaped({ [name]: 1 })).toEqual(["privileged_parameter", name]);
    expect(shaped({ [name]: 1 }, { tenant: { privileged: true } })).toEqual({ [name]: 1, changed: "" });
  });
  it("a null is no use of it", () => expect(shaped({ priority: null })).toEqual({ changed: "-priority" }));
});

describe("defaults", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>, string]>([
    [
      "fill what is left out",
      {},
      { temperature: 0.5, stop: ["x"] },
      { temperature: 0.5, stop: ["x"] },
      "+temperature, +stop",
    ],
    ["fill a null", { temperature: null }, { temperature: 0.5 }, { temperature: 0.5 }, "-temperature, +temperature"],
    ["override nothing", { temperature: 0 }, { temperature: 0.5 }, { temperature: 0 }, ""],
    ["yield to a synonym", { max_completion_tokens: 1 }, { max_tokens: 9 }, { max_completion_tokens: 1 }, ""],
    ["do not say what a route has read", {}, { model: "other", messages: [], stream: true, n: 3 }, {}, ""],
  ])("%s", (_name, members, defaults, left, changed) =>
    expect(shaped(members, { defaults })).toEqual({ ...left, changed }),
  );
  it("absent sampling members stay absent", () =>
    expect(shaped({}, { provider: vllm, can: { cache_salt: false } })).toEqual({ changed: "" }));
});

describe("cache-salt", () => {
  const salted: Setting = { provider: vllm };
  const saltOf = (members: Record<string, unknown>, cacheSalt: string): unknown =>
    (shaped(members, { ...salted, tenant: { cacheSalt } }) as Record<string, unknown>)["cache_salt"];

  it("each tenant has its own", () => {
    expect(shaped({}, salted)).toEqual({ cache_salt: "salt", changed: "+cache_salt" });
    expect(cacheSaltOf("a")).not.toBe(cacheSaltOf("b"));
    expect(cacheSaltOf("a")).toMatch(/^[0-9a-f]{32}$/);
  });
  it("a client's own is hashed together with the tenant's", () => {
    const own = saltOf({ cache_salt: "mine" }, "a");
    expect(own).toMatch(/^[0-9a-f]{32}$/);
    expect(own).toBe(saltOf({ cache_salt: "mine" }, "a"));
    expect(own).not.toBe(saltOf({ cache_salt: "mine" }, "b"));
    expect(own).not.toBe(saltOf({ cache_salt: "other" }, "a"));
    expect(shaped({ cache_salt: "mine" }, salted)).toMatchObject({ changed: "~cache_salt" });
  });
  it("one that would be another tenant's does not open its cache", () =>
    expect(saltOf({ cache_salt: cacheSaltOf("b") }, cacheSaltOf("a"))).not.toBe(cacheSaltOf("b")));
  it("what is no text counts as none", () => expect(saltOf({ cache_salt: 5 }, "a")).toBe("a"));
  it("opt-out", () =>
    expect(shaped({ cache_salt: "mine" }, { provider: vllm, can: { cache_salt: false } })).toEqual({
      cache_salt: "mine",
      changed: "",
    }));
});

describe("what is not touched", () => {
  it.each([
    [
      "a clean request",
      ' {"model":"m", "messages":[{"role":"user","content":"x"}],"seed":9007199254740993, "x":1.50} ',
    ],
    [
      "unknown members, roles and parts",
      '{"model":"m","messages":[{"role":"critic","content":[{"type":"hologram","x":1}]}],"future":{"a":[1,null]}}',
    ],
    [
      "advisory members",
      '{"model":"m","messages":[],"store":true,"metadata":{"a":"b"},"service_tier":"flex","verbosity":"low","prediction":{"type":"content","content":"x"}}',
    ],
  ])("%s keeps its bytes", (_name, text) => expect(shapedText(text)).toEqual({ text, changed: [] }));

  it("beside an edit everything keeps its spelling", () => {
    const text =
      '{"model":"m", "messages":[{"role":"developer","content":"x","n":1.50}],"seed":9007199254740993,"t": 1e3,"stop":[]}';
    expect(shapedText(text, { can: { instruction_role: "system" } })).toEqual({
      text: '{"model":"m","messages":[{"role":"system","content":"x","n":1.50}],"seed":9007199254740993,"t": 1e3}',
      changed: ["-stop", "developer->system"],
    });
  });
  it("a key that stands twice goes once, as it was checked", () => {
    expect(shapedText('{"model":"m","messages":[],"n":1,"n":2}')).toEqual({
      text: '{"model":"m","messages":[],"n":2}',
      changed: [],
    });
  });
  it("__proto__ is a member like any other", () => {
    const text =
      '{"model":"m","messages":[{"role":"developer","__proto__":{"role":"x"}}],"__proto__":{"priority":1},"stop":[]}';
    expect(shapedText(text, { can: { instruction_role: "system" } })).toMatchObject({
      text: '{"model":"m","messages":[{"role":"system","__proto__":{"role":"x"}}],"__proto__":{"priority":1}}',
    });
  });
  it("the target's model is asked for, and not told", () => {
    expect(shapedText('{"model":"m","messages":[]}', { target: { model: "big" } })).toEqual({
      text: '{"model":"big","messages":[]}',
      changed: [],
    });
  });
});

describe("the header", () => {
  it("tells names", () =>
    expect(changedHeader(["max_tokens->max_completion_tokens", "-stop", "+cache_salt", "~top_k"])).toEqual({
      "x-sluice-changed": "max_tokens->max_completion_tokens, -stop, +cache_salt, ~top_k",
    }));
  it("is not there without a change", () => expect(changedHeader([])).toEqual({}));
  it("does not carry what a client has made up", () =>
    expect(changedHeader(["-a\r\nset-cookie: x", "-ü", `-${"x".repeat(200)}`, "-stop"])).toEqual({
      "x-sluice-changed": "-stop, 3 more",
    }));
  it("is bounded", () =>
    expect(changedHeader(Array.from({ length: 5000 }, (_, i) => `-a${i}`))["x-sluice-changed"]?.length).toBeLessThan(
      300,
    ));
});
