import { describe, expect, test } from "vitest";
import { ask, bodyFor, gist, ways } from "../ask.ts";
import { newClient } from "../client.ts";
import { noThinking } from "../say.ts";

const answerFormat = {
  type: "json_schema" as const,
  json_schema: {
    name: "answer",
    strict: true,
    schema: {
      type: "object",
      properties: { ok: { type: "boolean" }, n: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["ok", "n"],
      additionalProperties: false,
    },
  },
};
const matching = { ok: expect.any(Boolean), n: expect.any(Number) };

describe.each(ways)("structured output: $model, $mode", (way) => {
  test("json_schema", async () => {
    // With another seed the random model may fill the context with blanks between the braces.
    const [choice] = gist(await ask(way, { response_format: answerFormat, max_tokens: 1_500, seed: 5, ...noThinking }));
    expect(choice?.finish).toBe("stop");
    expect(JSON.parse(choice?.content ?? "")).toEqual(matching);
  });

  test("json_object, cut", async () => {
    const [choice] = gist(
      await ask(way, { response_format: { type: "json_object" }, max_tokens: 40, seed: 5, ...noThinking }),
    );
    expect(choice).toMatchObject({
      content: expect.stringMatching(/^\s*\{/),
      finish: expect.stringMatching(/length|stop/),
    });
  });

  test("text as a format", async () => {
    const [choice] = gist(
      await ask(way, { response_format: { type: "text" }, structured_outputs: { choice: ["Hi"] }, ...noThinking }),
    );
    expect(choice).toMatchObject({ content: "Hi", finish: "stop" });
  });

  test("vLLM's regex", async () => {
    const [choice] = gist(await ask(way, { structured_outputs: { regex: "[0-9]{3}-[a-c]{2}" }, ...noThinking }));
    expect(choice?.content).toMatch(/^[0-9]{3}-[a-c]{2}$/);
  });

  test("vLLM's grammar", async () => {
    const [choice] = gist(await ask(way, { structured_outputs: { grammar: 'root ::= "yes" | "no"' }, ...noThinking }));
    expect(choice?.content).toMatch(/^(yes|no)$/);
  });
});

test("the client's parse", async () => {
  const completion = await newClient().chat.completions.parse({
    ...bodyFor("tiny", { response_format: answerFormat, max_tokens: 1_500, seed: 5, ...noThinking }),
    response_format: answerFormat,
  });
  expect(completion.choices[0]?.message.parsed).toEqual(matching);
});
