import OpenAI, { APIError } from "openai";
import { describe, expect, test } from "vitest";
import { ask, bodyFor, gist, modes, refusal } from "../ask.ts";
import { askRaw, lastHeaders, lastText, newClient, rig, viaGateway } from "../client.ts";
import { privateModelName, serverKey } from "../config.ts";
import { noThinking, say, token } from "../say.ts";

/** What would tell a tenant about the platform: names served beside its own, keys, hosts, paths, code. */
const secretsOfTheHouse = [
  "tiny-alias",
  "Valid aliases",
  privateModelName,
  serverKey,
  "127.0.0.1",
  ".vllm",
  "Traceback",
  "pydantic",
];

async function expectNothingLeaks(): Promise<void> {
  const said = `${JSON.stringify([...lastHeaders()])} ${await lastText()}`;
  // Our own address is the client's to know.
  const own = new URL(rig.gatewayUrl ?? rig.parsersUrl).host;
  for (const secret of secretsOfTheHouse) expect(said.replaceAll(own, "")).not.toContain(secret);
}

const inputTooLong = { messages: [{ role: "user", content: "x".repeat(2_100) }] };

describe.each(modes)("errors before the first token: %s", (mode) => {
  test.each([
    ["temperature below zero", { temperature: -1 }, "temperature", viaGateway ? "at least 0" : "non-negative"],
    ["top_p zero", { top_p: 0 }, "top_p", viaGateway ? "more than 0" : "top_p must be in"],
    ["max_tokens zero", { max_tokens: 0 }, "max_tokens", "at least 1"],
    ["max_tokens beyond the context", { max_tokens: 5_000 }, "max_tokens", "max_model_len"],
    ["tool_choice without tools", { tool_choice: "auto" }, "tool_choice", "must be set"],
    ["top_logprobs without logprobs", { top_logprobs: 2 }, "top_logprobs", "logprobs"],
    ["json_schema without a schema", { response_format: { type: "json_schema" } }, "response_format", "json_schema"],
    ["n 2, greedy", { n: 2, temperature: 0 }, null, "greedy"],
    ["an empty stop word", { stop: [""] }, null, "empty string"],
    [
      "an image for a text model",
      {
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
        ],
      },
      null,
      "multimodal",
    ],
  ])("%s", async (_, body, param, words) => {
    const error = await refusal("tiny", mode, { ...noThinking, ...body });
    expect(error).toMatchObject({ status: 400, param });
    expect(error.message).toContain(words);
    if (!viaGateway) return;
    expect(error.type).toBe("invalid_request_error");
    await expectNothingLeaks();
  });

  test.runIf(!viaGateway)("no tools in the list", async () => {
    expect((await refusal("tiny", mode, { tools: [] })).message).toContain("empty array");
  });

  test.runIf(viaGateway)("an empty list of tools, which vLLM refuses, is left out", async () => {
    const body = { ...say("Hi"), tools: [], tool_choice: "auto" as const, stop: [] };
    expect(gist(await ask({ model: "tiny", mode }, body))).toMatchObject([{ content: "Hi" }]);
    expect(lastHeaders().get("x-sluice-changed")).toMatch(/-tools.*-stop.*-tool_choice/);
  });

  test.each([
    ["temperature", "hot"],
    ["max_tokens", "many"],
    ["logprobs", "perhaps"],
    ["reasoning_effort", "extreme"],
  ])("a wrong type or word: %s", async (field, value) => {
    const error = await refusal("tiny", mode, { [field]: value });
    expect(error.status).toBe(400);
    expect(error.param).toMatch(new RegExp(`(^|\\.)${field}$`));
    if (!viaGateway) return;
    expect(error.type).toBe("invalid_request_error");
    await expectNothingLeaks();
  });

  test.each([
    ["messages", { messages: "hi" }],
    ["messages", { messages: [] }],
    ["n", { n: 0 }],
    ["n", { n: 1.5 }],
  ])("%s is checked by the gateway itself", async (param, body) => {
    const error = await refusal("tiny", mode, body);
    expect(error.status).toBe(400);
    if (viaGateway) expect(error).toMatchObject({ type: "invalid_request_error", param });
  });

  test("a prompt longer than the context", async () => {
    for (const model of viaGateway ? ["tiny", "tiny-reframed", "tiny-aggregated", "plain"] : ["tiny", "plain"]) {
      const error = await refusal(model, mode, inputTooLong);
      expect(error.status).toBe(400);
      expect(error.message).toContain("maximum context length is 2048 tokens");
      if (!viaGateway) continue;
      expect(error).toMatchObject({ type: "invalid_request_error", code: "context_length_exceeded" });
      await expectNothingLeaks();
    }
  });
});

// The client cannot make a status of an error event: that is what the gateway is for.
describe.each(viaGateway ? modes : modes.slice(0, 1))("errors that vLLM finds after its 200: %s", (mode) => {
  test.each([
    ["top_logprobs 25", { logprobs: true, top_logprobs: 25 }, /25/],
    ["logit_bias outside the vocabulary", { logit_bias: { [token.outside]: 1 } }, /vocab/],
    ["allowed_token_ids outside the vocabulary", { allowed_token_ids: [token.outside] }, /vocab/],
    ["a grammar that does not parse", { structured_outputs: { grammar: "root ::= (" } }, /grammar/i],
    ["a regex that does not parse", { structured_outputs: { regex: "(" } }, /regex/],
    [
      "a schema that does not compile",
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "a", schema: { type: "object", properties: { a: { type: "nope" } } } },
        },
      },
      /./,
    ],
  ])("%s", async (_, body, words) => {
    for (const model of viaGateway ? ["tiny", "tiny-reframed", "tiny-aggregated"] : ["tiny"]) {
      const error = await refusal(model, mode, { ...noThinking, ...body });
      expect(error.status).toBe(400);
      expect(error.message).toMatch(words);
      if (!viaGateway) continue;
      expect(error.type).toBe("invalid_request_error");
      await expectNothingLeaks();
    }
  });
});

describe("an engine that fails in the middle of the text", () => {
  // The constraint does not allow the stop token, and the engine trips over that after three letters.
  const tripping = { ...say("one two three"), stop_token_ids: [token.blank] };

  test("streamed: the text so far, one error event, no [DONE]", async () => {
    const stream = await newClient().chat.completions.create({ ...bodyFor("tiny", tripping), stream: true });
    let text = "";
    let failure: unknown;
    try {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    } catch (error) {
      failure = error;
    }
    expect(text).toBe("one");
    expect(failure).toBeInstanceOf(APIError);
    if (!viaGateway) return;
    await askRaw("parsers", { ...bodyFor("tiny", tripping), stream: true });
    const wire = await lastText();
    expect(wire).not.toContain("[DONE]");
    expect(wire.match(/"error"/g)).toHaveLength(1);
    expect(wire).not.toMatch(/"finish_reason":"/);
    const last = JSON.parse(wire.trimEnd().split("\n\n").at(-1)?.slice("data: ".length) ?? "") as { error: unknown };
    expect(last).toEqual({
      error: {
        message: expect.stringMatching(/./),
        type: expect.stringMatching(/./),
        param: null,
        code: expect.stringMatching(/^upstream_/),
      },
    });
    await expectNothingLeaks();
  });

  test.runIf(viaGateway)("streamed, though the upstream is not: an error status", async () => {
    const error = await refusal("tiny-reframed", "streamed", tripping);
    expect(error.status).toBeGreaterThanOrEqual(500);
  });

  test("whole: an error, never half an answer", async () => {
    for (const model of viaGateway ? ["tiny", "tiny-reframed", "tiny-aggregated"] : ["tiny"]) {
      const error = await refusal(model, "whole", tripping);
      expect(error.status).toBeGreaterThanOrEqual(500);
      if (!viaGateway) continue;
      expect(error.code).toMatch(/^upstream_/);
      await expectNothingLeaks();
    }
  });

  test("and the next request is answered", async () => {
    for (const mode of modes)
      expect(gist(await ask({ model: "tiny", mode }, say("Hi")))).toMatchObject([{ content: "Hi" }]);
  });
});

describe.runIf(viaGateway).each(modes)("whose fault it was: %s", (mode) => {
  test("a model that the tenant does not have is not found", async () => {
    for (const model of ["tiny-alias", "nope"]) {
      const error = await refusal(model, mode, {});
      expect(error).toMatchObject({ status: 404, code: "model_not_found", type: "invalid_request_error" });
      expect((await lastText()).replaceAll(model, "")).not.toMatch(/tiny|plain|alias/);
    }
  });

  test("a name that goes to vLLM as asked, and is not served there, is not found either", async () => {
    const error = await refusal("as-asked-nope", mode, {});
    expect(error).toMatchObject({ status: 404, code: "model_not_found", type: "invalid_request_error" });
    await expectNothingLeaks();
    expect(await lastText()).not.toContain("tiny");
  });

  test.each([
    ["a name that the route itself gives and vLLM does not serve", "misnamed", "upstream_model_not_found"],
    ["a key that vLLM does not take", "locked", "upstream_unauthorized"],
    ["no key where vLLM wants one", "keyless", "upstream_unauthorized"],
    ["a credential whose secret is missing", "credential-absent", "credential_missing"],
  ])("%s: the operator's", async (_, model, code) => {
    const error = await refusal(model, mode, {});
    expect(error).toMatchObject({ status: 502, code });
    await expectNothingLeaks();
    expect(await lastText()).not.toMatch(/ABSENT_KEY|WRONG_KEY|k2/);
  });

  test("a wrong key of the gateway's: the client's", async () => {
    const client = new OpenAI({ baseURL: `${rig.gatewayUrl}/v1`, apiKey: "sk-nobody", maxRetries: 0 });
    expect(await refusal("tiny", mode, {}, client)).toMatchObject({ status: 401 });
  });
});
