import { describe, expect, test } from "vitest";
import { ask, bodyFor, gist, ways, type Answer } from "../ask.ts";
import { newClient, viaGateway } from "../client.ts";
import { callText, clock, noThinking, say, strict, weather } from "../say.ts";

const oslo = '{"city": "Oslo", "days": 2}';
const oneCall = callText("get_weather", oslo);
const twoCalls = `${oneCall}\n${callText("now", "{}")}`;
const forcedWeather = { type: "function" as const, function: { name: "get_weather" } };

function ids({ completion }: Answer): string[] {
  return (completion.choices[0]?.message.tool_calls ?? []).map(({ id }) => id);
}

describe.each(ways)("tools: $model, $mode", (way) => {
  test("auto: one call", async () => {
    const answer = await ask(way, { ...say(oneCall), tools: [weather] });
    expect(gist(answer)).toEqual([
      { content: "", reasoning: "", calls: [{ name: "get_weather", arguments: oslo }], finish: "tool_calls" },
    ]);
    expect(ids(answer)).toEqual([expect.stringMatching(/./)]);
  });

  test("auto: two calls", async () => {
    const answer = await ask(way, { ...say(twoCalls), tools: [weather, clock], tool_choice: "auto" });
    const calls = [
      { name: "get_weather", arguments: oslo },
      { name: "now", arguments: "{}" },
    ];
    expect(gist(answer)).toEqual([
      { content: expect.stringMatching(/^\s*$/), reasoning: "", calls, finish: "tool_calls" },
    ]);
    expect(new Set(ids(answer)).size).toBe(2);
  });

  test("auto: parallel_tool_calls true is what two calls need", async () => {
    const answer = await ask(way, { ...say(twoCalls), tools: [weather, clock], parallel_tool_calls: true });
    expect(gist(answer)[0]?.calls).toHaveLength(2);
  });

  test("auto: parallel_tool_calls false leaves one", async () => {
    const answer = await ask(way, {
      ...say(`${callText("now", "{}")}\n${oneCall}`),
      tools: [weather, clock],
      parallel_tool_calls: false,
    });
    expect(gist(answer)).toMatchObject([{ calls: [{ name: "now", arguments: "{}" }], finish: "tool_calls" }]);
  });

  test("auto: text before the call", async () => {
    const [choice] = gist(await ask(way, { ...say(`Let me look.\n${oneCall}`), tools: [weather] }));
    expect(choice).toEqual({
      content: "Let me look.\n",
      reasoning: "",
      calls: [{ name: "get_weather", arguments: oslo }],
      finish: "tool_calls",
    });
  });

  test("auto: text alone", async () => {
    expect(gist(await ask(way, { ...say("No need."), tools: [weather] }))).toMatchObject([
      { content: "No need.", calls: [], finish: "stop" },
    ]);
  });

  test("auto: arguments that are not ASCII", async () => {
    const args = '{"city": "Tromsø 🌧", "note": "\\"a\\\\b\\"\\n"}';
    expect(
      gist(await ask(way, { ...say(callText("get_weather", args)), tools: [weather] }))[0]?.calls.map(
        (call) => JSON.parse(call.arguments) as unknown,
      ),
    ).toEqual([JSON.parse(args)]);
  });

  test("auto, n 2: each choice has its call", async () => {
    const answer = await ask(way, { ...say(oneCall), tools: [weather], n: 2 });
    expect(gist(answer).map(({ calls, finish }) => ({ calls, finish }))).toEqual(
      Array.from({ length: 2 }, () => ({ calls: [{ name: "get_weather", arguments: oslo }], finish: "tool_calls" })),
    );
  });

  test("auto: a name that was not offered is the model's word and stays", async () => {
    expect(gist(await ask(way, { ...say(callText("rm_rf", "{}")), tools: [weather] }))).toMatchObject([
      { calls: [{ name: "rm_rf", arguments: "{}" }], finish: "tool_calls" },
    ]);
  });

  test("required", async () => {
    // A random model may not find the end of its list of calls: then, too, what it called so far is told.
    const [choice] = gist(
      await ask(way, { tools: [strict(weather)], tool_choice: "required", max_tokens: 1_000, seed: 11, ...noThinking }),
    );
    expect(choice?.calls.length).toBeGreaterThan(0);
    for (const call of choice?.calls ?? []) {
      expect(call.name).toBe("get_weather");
      if (choice?.finish !== "length")
        expect(JSON.parse(call.arguments)).toMatchObject({
          city: expect.stringMatching(/Oslo|Bergen/),
          days: expect.any(Number),
        });
    }
    expect(choice).toMatchObject({ content: "", finish: expect.stringMatching(/tool_calls|length/) });
  });

  test("named: one call, and the finish is stop, as OpenAI has it", async () => {
    const [choice] = gist(
      await ask(way, {
        tools: [strict(weather), strict(clock)],
        tool_choice: forcedWeather,
        max_tokens: 1_000,
        seed: 4,
        ...noThinking,
      }),
    );
    expect(choice).toMatchObject({ content: "", calls: [{ name: "get_weather" }], finish: "stop" });
    expect(JSON.parse(choice?.calls[0]?.arguments ?? "")).toMatchObject({
      city: expect.stringMatching(/Oslo|Bergen/),
      days: expect.any(Number),
    });
  });

  test("none: what looks like a call is text", async () => {
    expect(gist(await ask(way, { ...say(oneCall), tools: [weather], tool_choice: "none" }))).toMatchObject([
      { content: oneCall, calls: [], finish: "stop" },
    ]);
  });

  test("a history with calls and their results", async () => {
    const messages = [
      { role: "user" as const, content: "time?" },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: [{ id: "call_1", type: "function" as const, function: { name: "now", arguments: "{}" } }],
      },
      { role: "tool" as const, tool_call_id: "call_1", content: "12:00" },
    ];
    expect(gist(await ask(way, { ...say("Noon."), tools: [clock], messages }))).toMatchObject([
      { content: "Noon.", finish: "stop" },
    ]);
  });

  test("a thought, then a call", async () => {
    const { chat_template_kwargs: _, ...body } = say(`<think>hm</think>${oneCall}`);
    expect(gist(await ask(way, { ...body, tools: [weather] }))).toEqual([
      { content: "", reasoning: "hm", calls: [{ name: "get_weather", arguments: oslo }], finish: "tool_calls" },
    ]);
  });
});

describe("calls that vLLM itself reads differently, whole and streamed", () => {
  const broken = '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n</tool_call>';

  test("arguments that are not JSON", async () => {
    const body = { ...say(broken), tools: [weather] };
    expect(gist(await ask({ model: "tiny", mode: "whole" }, body))).toMatchObject([
      { content: broken, calls: [], finish: "stop" },
    ]);
    expect(gist(await ask({ model: "tiny", mode: "streamed" }, body))).toMatchObject([
      { content: "", calls: [{ name: "get_weather" }], finish: "tool_calls" },
    ]);
  });

  test("a call cut by max_tokens: the finish stays length", async () => {
    const body = { ...say(oneCall), tools: [weather], max_tokens: 60 };
    const [whole] = gist(await ask({ model: "tiny", mode: "whole" }, body));
    expect(whole).toMatchObject({ content: expect.stringMatching(/^<tool_call>/), calls: [], finish: "length" });
    const [streamed] = gist(await ask({ model: "tiny", mode: "streamed" }, body));
    expect(streamed).toMatchObject({ calls: [{ name: "get_weather" }], finish: "length" });
    expect(oslo.startsWith(streamed?.calls[0]?.arguments ?? "?")).toBe(true);
  });
});

test.runIf(viaGateway)("where there are only calls, content is null", async () => {
  for (const body of [
    { ...say(oneCall), tools: [weather] },
    { tools: [strict(weather)], tool_choice: forcedWeather, max_tokens: 1_000, seed: 4, ...noThinking },
  ]) {
    const { completion } = await ask({ model: "tiny", mode: "whole" }, body);
    expect(completion.choices[0]?.message.content).toBeNull();
  }
});

test("each call is announced once: id, type and name on its first delta only", async () => {
  const stream = await newClient().chat.completions.create({
    ...bodyFor("tiny", { ...say(twoCalls), tools: [weather, clock] }),
    stream: true,
  });
  const deltas = [];
  for await (const { choices } of stream) deltas.push(...(choices[0]?.delta.tool_calls ?? []));
  expect(
    deltas.filter(({ id }) => id !== undefined).map(({ index, function: called }) => [index, called?.name]),
  ).toEqual([
    [0, "get_weather"],
    [1, "now"],
  ]);
  for (const { index } of deltas.slice(1, -3)) expect([0, 1]).toContain(index);
});
