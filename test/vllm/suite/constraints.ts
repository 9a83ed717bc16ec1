import { describe, expect, test } from "vitest";
import { ask, gist, modes, ways, type Way } from "../ask.ts";
import { lastHeaders, viaGateway } from "../client.ts";
import { noThinking, type Body } from "../say.ts";

const schema = {
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
  additionalProperties: false,
};
const isOk = /^\s*\{\s*"ok"\s*:\s*(?:true|false)\s*\}\s*$/;
const own: readonly Way[] = [...ways, ...modes.map((mode) => ({ model: "templated", mode }))];

// vLLM 0.32 ignores all of them without a word: that they have an effect is the gateway's doing.
const older = [
  { member: "guided_choice", value: ["Hello"], gives: /^Hello$/ },
  { member: "guided_regex", value: "[0-9]{3}-[a-c]{2}", gives: /^[0-9]{3}-[a-c]{2}$/ },
  { member: "guided_grammar", value: 'root ::= "yes" | "no"', gives: /^(?:yes|no)$/ },
  { member: "guided_json", value: schema, gives: isOk },
];

describe.runIf(viaGateway).each(own)("the older names of constraints: $model, $mode", (way) => {
  test.each(older)("$member", async ({ member, value, gives }) => {
    const body = { [member]: value, max_tokens: 1_500, seed: 5, ...noThinking } as Body;
    expect(gist(await ask(way, body))).toMatchObject([{ content: expect.stringMatching(gives), finish: "stop" }]);
    expect(lastHeaders().get("x-sluice-changed")).toContain(`${member}->structured_outputs`);
  });

  test("beside advice that only old versions read", async () => {
    const body = { guided_choice: ["Hi"], guided_decoding_backend: "xgrammar", ...noThinking } as Body;
    expect(gist(await ask(way, body))).toMatchObject([{ content: "Hi" }]);
  });
});

describe.each(viaGateway ? own : ways)("the names of today: $model, $mode", (way) => {
  test("structured_outputs json", async () => {
    const body = { structured_outputs: { json: schema }, max_tokens: 1_500, seed: 5, ...noThinking } as Body;
    expect(gist(await ask(way, body))).toMatchObject([{ content: expect.stringMatching(isOk), finish: "stop" }]);
  });

  test("json_schema", async () => {
    const response_format = { type: "json_schema" as const, json_schema: { name: "a", schema } };
    const [choice] = gist(await ask(way, { response_format, max_tokens: 1_500, seed: 5, ...noThinking }));
    expect(choice).toMatchObject({ content: expect.stringMatching(isOk), finish: "stop" });
  });

  test("json_object, cut", async () => {
    const body: Body = { response_format: { type: "json_object" }, max_tokens: 40, seed: 5, ...noThinking };
    expect(gist(await ask(way, body))).toMatchObject([
      { content: expect.stringMatching(/^\s*\{/), finish: expect.stringMatching(/length|stop/) },
    ]);
  });
});
