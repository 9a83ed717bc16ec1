import { describe, expect, test } from "vitest";
import { ask, gist, modes, type Way } from "../ask.ts";
import { lastHeaders, viaGateway } from "../client.ts";
import { callText, clock, letters, say, verbatim, weather } from "../say.ts";
import { oslo, osloCall, scenarios, told } from "../scenarios.ts";

// Of the forms that one answer can take on its way, those that are not the same once more.
const ways: readonly Way[] = [
  { model: "read", mode: "whole" },
  { model: "read", mode: "streamed" },
  { model: "read-reframed", mode: "streamed" },
  { model: "read-aggregated", mode: "whole" },
  { model: "read-auto", mode: "streamed" },
];
const forcedWeather = { type: "function" as const, function: { name: "get_weather" } };

describe.runIf(viaGateway)("calls and thoughts read by the gateway, from a server without parsers", () => {
  describe.each(ways)("$model, $mode", (way) => {
    test.each(scenarios)("$name", async ({ body, says }) => {
      expect(gist(await ask(way, body)).map(told)).toEqual([told(says)]);
    });

    test("two choices, each with its thought and its call", async () => {
      const answer = await ask(way, { ...verbatim(`<think>hm</think>${osloCall}`), tools: [weather], n: 2 });
      const says = { content: "", reasoning: "hm", calls: [{ name: "get_weather", arguments: oslo }] };
      expect(gist(answer)).toEqual([
        { ...says, finish: "tool_calls" },
        { ...says, finish: "tool_calls" },
      ]);
      const calls = answer.completion.choices.flatMap(({ message }) => message.tool_calls ?? []);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    });

    test("required: the call, and what it became is told", async () => {
      const body = { ...say(osloCall), tools: [weather, clock], tool_choice: "required" as const };
      expect(gist(await ask(way, body))).toEqual([
        { content: "", reasoning: "", calls: [{ name: "get_weather", arguments: oslo }], finish: "tool_calls" },
      ]);
      expect(lastHeaders().get("x-sluice-changed")).toContain("~tool_choice");
    });

    test("required: text that is no call stays text", async () => {
      const body = { ...say("No."), tools: [weather], tool_choice: "required" as const };
      expect(gist(await ask(way, body))).toMatchObject([{ content: "No.", calls: [], finish: "stop" }]);
      expect(lastHeaders().get("x-sluice-changed")).toContain("~tool_choice");
    });

    test.each([
      ["as a call", osloCall],
      ["as its arguments alone", oslo],
    ])("named, %s: the finish is stop, as OpenAI has it", async (_, text) => {
      const body = { ...say(text), tools: [weather, clock], tool_choice: forcedWeather };
      expect(gist(await ask(way, body))).toEqual([
        { content: "", reasoning: "", calls: [{ name: "get_weather", arguments: oslo }], finish: "stop" },
      ]);
    });

    test("named: a call of another function is text", async () => {
      const text = callText("now", "{}");
      const body = { ...say(text), tools: [weather, clock], tool_choice: forcedWeather };
      expect(gist(await ask(way, body))).toMatchObject([{ content: text, calls: [], finish: "stop" }]);
    });

    test("a history with calls, results and thoughts", async () => {
      const call = { id: "call_1", type: "function" as const, function: { name: "now", arguments: "" } };
      const messages = [
        { role: "user" as const, content: "time?" },
        { role: "assistant" as const, content: null, reasoning_content: "hm", tool_calls: [call] },
        { role: "tool" as const, tool_call_id: "call_1", content: "12:00" },
      ];
      expect(gist(await ask(way, { ...say("Noon."), tools: [clock], messages }))).toMatchObject([
        { content: "Noon.", finish: "stop" },
      ]);
    });
  });

  test.each(modes)("a thought that the prompt has opened: %s", async (mode) => {
    const way = { model: "read-opened", mode };
    const body = { ...verbatim(`hm</think>${osloCall}`), tools: [weather] };
    expect(gist(await ask(way, body))).toEqual([
      { content: "", reasoning: "hm", calls: [{ name: "get_weather", arguments: oslo }], finish: "tool_calls" },
    ]);
    const cut = { ...letters(5), chat_template_kwargs: {} };
    expect(gist(await ask(way, cut))).toMatchObject([
      { content: "", reasoning: expect.stringMatching(/^[a-z]{5}$/), finish: "length" },
    ]);
  });

  test("both spellings of a thought, as the tenant has it", async () => {
    const { completion } = await ask({ model: "read", mode: "whole" }, verbatim("<think>hm</think>Hi"));
    expect(completion.choices[0]?.message).toMatchObject({ content: "Hi", reasoning: "hm", reasoning_content: "hm" });
  });

  test.each(modes)("each call is announced once, and complete when the answer ends: %s", async (mode) => {
    const body = { ...say(`${osloCall}\n${osloCall}`), tools: [weather] };
    const { completion, chunks } = await ask({ model: "read", mode }, body);
    const ids = (completion.choices[0]?.message.tool_calls ?? []).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    const deltas = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    if (mode === "streamed")
      expect(deltas.filter(({ id }) => id !== undefined).map(({ index }) => index)).toEqual([0, 1]);
  });

  test("text before a call leaves while the model still writes", async () => {
    const long = "Let me look at that for a while. ".repeat(3);
    const body = { ...say(`${long}${osloCall}`), tools: [weather] };
    const { chunks } = await ask({ model: "read", mode: "streamed" }, body);
    expect(chunks.filter(({ choices }) => choices[0]?.delta.content).length).toBeGreaterThan(10);
  });
});

describe("the same answers from vLLM's own parsers", () => {
  describe.each(modes)("%s", (mode) => {
    test.each(scenarios.filter(({ unlikeVllm }) => unlikeVllm === undefined))("$name", async ({ body, says }) => {
      const theirs = await ask({ model: "tiny", mode }, body);
      expect(gist(theirs).map(told)).toEqual([told(says)]);
      if (!viaGateway) return;
      const ours = await ask({ model: "read", mode }, body);
      const { prompt_tokens, completion_tokens } = theirs.completion.usage ?? {};
      expect(ours.completion.usage).toMatchObject({ prompt_tokens, completion_tokens });
    });
  });
});
