import { describe, expect, test } from "vitest";
import { ask, gist, modes, refusal } from "../ask.ts";
import { viaGateway } from "../client.ts";
import { callText, say, weather } from "../say.ts";

const oneCall = callText("get_weather", '{"city": "Oslo", "days": 2}');
const forcedWeather = { type: "function" as const, function: { name: "get_weather" } };

describe.each(modes)("a server without parsers: %s", (mode) => {
  const way = { model: "plain", mode };

  test("none: the call is text", async () => {
    expect(gist(await ask(way, { ...say(oneCall), tools: [weather], tool_choice: "none" }))).toMatchObject([
      { content: oneCall, calls: [], finish: "stop" },
    ]);
  });

  test.each([
    ["auto", undefined],
    ["required", "required"],
    ["named", forcedWeather],
  ])("%s: refused, with the reason", async (_, tool_choice) => {
    const error = await refusal("plain", mode, {
      tools: [weather],
      max_tokens: 10,
      ...(tool_choice ? { tool_choice } : {}),
    });
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/tool.choice/);
    if (viaGateway) expect(error.type).toBe("invalid_request_error");
  });

  test("a stream of plain text", async () => {
    expect(gist(await ask(way, say("Hello, world.")))).toMatchObject([{ content: "Hello, world.", finish: "stop" }]);
  });

  test("a thought stays in the text", async () => {
    const text = "<think>hm</think>Hi";
    expect(gist(await ask(way, say(text)))).toMatchObject([{ content: text, reasoning: "", finish: "stop" }]);
  });
});
