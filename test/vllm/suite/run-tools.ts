import { describe, expect, test } from "vitest";
import { modes } from "../ask.ts";
import { newClient, recordingFetch } from "../client.ts";
import { callText, say, weather } from "../say.ts";

const oneCall = callText("get_weather", '{"city": "Oslo", "days": 2}');

describe.each(modes)("the client's own loop: %s", (mode) => {
  test("runTools calls the function and goes on with its result", async () => {
    // The first turn must call, the second must answer: the body is forced for each as the client sends it.
    const client = newClient("parsers", (url, init) => {
      const body = JSON.parse(String(init?.body)) as { messages: { role: string }[] };
      const answered = body.messages.some(({ role }) => role === "tool");
      return recordingFetch(url as string, {
        ...init,
        body: JSON.stringify({ ...body, ...say(answered ? "It is fine." : oneCall) }),
      });
    });
    const asked: unknown[] = [];
    const tool = {
      type: "function" as const,
      function: {
        name: "get_weather",
        description: "Weather of a city",
        parameters: weather.function.parameters ?? {},
        parse: (text: string): unknown => JSON.parse(text),
        function: (args: unknown): string => {
          asked.push(args);
          return "sunny";
        },
      },
    };
    const body = { model: "tiny", messages: [{ role: "user" as const, content: "weather?" }], tools: [tool] };
    const runner =
      mode === "whole"
        ? client.chat.completions.runTools(body)
        : client.chat.completions.runTools({ ...body, stream: true });
    expect(await runner.finalContent()).toBe("It is fine.");
    expect(asked).toEqual([{ city: "Oslo", days: 2 }]);
    expect(runner.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });
});
