import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../../src/upstream/provider.ts";
import { shaped, unsupported, type Setting } from "./shaping.ts";

type Members = Record<string, unknown>;
const f = { name: "f", parameters: { type: "object", properties: { x: { default: null } } } };
const tool = { type: "function", function: f };

describe("legacy-functions", () => {
  it.each<[string, Members, unknown]>([
    ["functions are tools", { functions: [f] }, { tools: [tool], legacyFunctions: true, changed: "functions->tools" }],
    [
      "a choice",
      { functions: [f], function_call: "auto" },
      {
        tools: [tool],
        tool_choice: "auto",
        legacyFunctions: true,
        changed: "functions->tools, function_call->tool_choice",
      },
    ],
    [
      "a choice by name",
      { functions: [f], function_call: { name: "f" } },
      {
        tools: [tool],
        tool_choice: { type: "function", function: { name: "f" } },
        legacyFunctions: true,
        changed: "functions->tools, function_call->tool_choice",
      },
    ],
    [
      "beside tools the answer is one of tools",
      { functions: [f], tools: [{ type: "function", function: { name: "g" } }] },
      { tools: [{ type: "function", function: { name: "g" } }, tool], changed: "functions->tools" },
    ],
    ["a choice of nothing", { function_call: "auto" }, { changed: "-function_call" }],
  ])("%s", (_name, members, expected) => expect(shaped(members)).toEqual(expected));

  it("the history is one of tools too", () => {
    const messages = [
      { role: "user", content: "x" },
      { role: "assistant", content: null, function_call: { name: "f", arguments: '{"a":1}' } },
      { role: "function", name: "f", content: "r" },
      { role: "function", name: "g", content: "of no call" },
      { role: "assistant", content: "y", function_call: null },
    ];
    expect(shaped({ messages })).toEqual({
      messages: [
        messages[0],
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "r" },
        { role: "tool", tool_call_id: "call_1", content: "of no call" },
        messages[4],
      ],
      changed: "function_call->tool_calls",
    });
  });
  it("pass where they are known", () =>
    expect(shaped({ functions: [f], function_call: "auto" }, { can: { functions: true } })).toEqual({
      functions: [f],
      function_call: "auto",
      changed: "",
    }));
});

describe("tool-choice-none and parallel-tool-calls", () => {
  it.each<[string, Members, Setting, unknown]>([
    [
      "a none that would be ignored takes the tools away",
      { tools: [tool], tool_choice: "none", parallel_tool_calls: true },
      { can: { tool_choice_none: false } },
      { changed: "-tools, -tool_choice, -parallel_tool_calls" },
    ],
    [
      "a none that is honoured",
      { tools: [tool], tool_choice: "none" },
      {},
      { tools: [tool], tool_choice: "none", changed: "" },
    ],
    [
      "another choice",
      { tools: [tool], tool_choice: "auto" },
      { can: { tool_choice_none: false } },
      { tools: [tool], tool_choice: "auto", changed: "" },
    ],
    [
      "with tools as text the template is shown them",
      { tools: [tool], tool_choice: "none" },
      { can: { tool_choice_none: false }, target: { text: { tools: "hermes", reasoning: "none" } } },
      { tools: [tool], tool_choice: "none", skip_special_tokens: false, changed: "+skip_special_tokens" },
    ],
    [
      "a key that is refused",
      { tools: [tool], parallel_tool_calls: false },
      { can: { parallel_tool_calls: false } },
      { tools: [tool], changed: "-parallel_tool_calls" },
    ],
  ])("%s", (_name, members, setting, expected) => expect(shaped(members, setting)).toEqual(expected));
});

describe("unsupported-members", () => {
  const jsonSchema = { type: "json_schema", json_schema: { name: "a", schema: {} } };
  const rows: [string, Partial<Capabilities>, Members, string, Members, string][] = [
    ["tools", { tools: false }, { tools: [tool], tool_choice: "auto" }, "tools", {}, "-tools, -tool_choice"],
    ["functions", { tools: false }, { functions: [f] }, "functions", {}, "functions->tools, -tools"],
    [
      "a forced call",
      { tool_choice_required: false },
      { tools: [tool], tool_choice: "required" },
      "tool_choice",
      { tools: [tool] },
      "-tool_choice",
    ],
    [
      "a named call",
      { tool_choice_required: false },
      { tools: [tool], tool_choice: { type: "function", function: { name: "f" } } },
      "tool_choice",
      { tools: [tool] },
      "-tool_choice",
    ],
    ["json_schema", { json_schema: false }, { response_format: jsonSchema }, "response_format", {}, "-response_format"],
    [
      "json_object",
      { json_object: false },
      { response_format: { type: "json_object" } },
      "response_format",
      {},
      "-response_format",
    ],
    ["logprobs", { logprobs: false }, { logprobs: true, top_logprobs: 2 }, "logprobs", {}, "-logprobs, -top_logprobs"],
    [
      "speech",
      { audio: false },
      { modalities: ["text", "audio"], audio: { voice: "a" } },
      "modalities",
      {},
      "-modalities, -audio",
    ],
    ["guided_regex", { constraints: "none" }, { guided_regex: "a" }, "guided_regex", {}, "-guided_regex"],
  ];
  it.each(rows)("%s is refused by name", (_name, can, members, param) =>
    expect(shaped(members, { can })).toEqual(unsupported(param)),
  );
  it.each(rows)("%s is left out where the operator wants it so", (_name, can, members, _param, left, changed) => {
    expect(shaped(members, { can, target: { unsupported: "drop" } })).toEqual({ ...left, changed });
  });
  it.each(rows)("%s passes where it is supported", (_name, _can, members) => {
    expect(shaped(members)).toMatchObject(members["functions"] === undefined ? members : {});
  });
  it.each<[string, Members]>([
    ["text only", { modalities: ["text"] }],
    ["no logprobs", { logprobs: false }],
    ["a format of text", { response_format: { type: "text" } }],
  ])("%s is no use of it", (_name, members) => {
    expect(shaped(members, { can: { audio: false, logprobs: false, json_schema: false, json_object: false } })).toEqual(
      { ...members, changed: "" },
    );
  });
  it("tools that are read as text are supported", () => {
    expect(
      shaped(
        { tools: [tool], tool_choice: "required" },
        { can: { tools: false, tool_choice_required: false }, target: { text: { tools: "auto", reasoning: "none" } } },
      ),
    ).toEqual({
      tools: [tool],
      tool_choice: "none",
      skip_special_tokens: false,
      changed: "+skip_special_tokens, ~tool_choice",
    });
  });
});
