import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json/lossless.ts";
import { askingFor, endpointUrl, headersFor, type AskedForm } from "../../src/upstream/request.ts";
import { PLAIN_RULES, shapeRequest } from "../../src/upstream/shaping/shape.ts";
import type { Target } from "../../src/upstream/target.ts";
import { targetOf } from "./target-of.ts";

function bodyFor(text: string, body: JsonObject, defaults: JsonObject, target: Target): string {
  const shaped = shapeRequest(
    { text, body, defaults, target, tenant: { privileged: false, cacheSalt: "" } },
    PLAIN_RULES,
  );
  return shaped.ok ? shaped.value.text : "";
}

describe("endpointUrl", () => {
  it.each([
    ["https://api.example/v1", "https://api.example/v1/chat/completions"],
    ["https://api.example/v1/", "https://api.example/v1/chat/completions"],
    ["https://api.example/v1//", "https://api.example/v1/chat/completions"],
    ["https://api.example", "https://api.example/v1/chat/completions"],
    ["https://api.example/", "https://api.example/v1/chat/completions"],
    ["https://api.example/openai/v1", "https://api.example/openai/v1/chat/completions"],
    ["https://api.example/api/v3", "https://api.example/api/v3/chat/completions"],
    ["https://api.example/v1beta/openai/", "https://api.example/v1beta/openai/chat/completions"],
    ["https://api.example/v1?api-version=2024-10-21", "https://api.example/v1/chat/completions?api-version=2024-10-21"],
    ["https://api.example?key=a%2Fb", "https://api.example/v1/chat/completions?key=a%2Fb"],
    [
      "https://api.example/openai/deployments/gpt%204?api-version=1",
      "https://api.example/openai/deployments/gpt%204/chat/completions?api-version=1",
    ],
    ["https://api.example/v1/chat/completions", "https://api.example/v1/chat/completions"],
    ["https://api.example/v1/chat/completions/", "https://api.example/v1/chat/completions"],
    ["http://10.0.0.5:8000/v1", "http://10.0.0.5:8000/v1/chat/completions"],
    ["http://[::1]:8000", "http://[::1]:8000/v1/chat/completions"],
    ["https://api.example/v1#part", "https://api.example/v1/chat/completions"],
  ])("%s", (base, url) => expect(endpointUrl(base, "/chat/completions")).toBe(url));
});

describe("the body", () => {
  const STREAM: AskedForm = { stream: true, omitKey: false, options: true };
  const WHOLE: AskedForm = { stream: false, omitKey: false, options: true };
  interface Call {
    readonly form?: AskedForm;
    readonly defaults?: JsonObject;
    readonly model?: string;
    readonly clientStreams?: boolean;
  }
  const body = (text: string, { form = STREAM, defaults = {}, model, clientStreams = true }: Call = {}): string =>
    askingFor(form, bodyFor(text, JSON.parse(text) as JsonObject, defaults, targetOf({ model })), clientStreams);

  it.each<[string, string, Call, string]>([
    [
      "a stream as it came, byte for byte",
      ' {"model":"m", "stream" : true,"seed":9007199254740993, "x":1.50} ',
      {},
      ' {"model":"m", "stream" : true,"seed":9007199254740993, "x":1.50} ',
    ],
    [
      "a whole one as it came",
      '{"model":"m","messages":[]}',
      { form: WHOLE, clientStreams: false },
      '{"model":"m","messages":[]}',
    ],
    [
      "a whole one that says so",
      '{"model":"m","stream":false}',
      { form: WHOLE, clientStreams: false },
      '{"model":"m","stream":false}',
    ],
    [
      "the target's model",
      '{"model":"m","stream":true}',
      { model: 'big/"x"' },
      '{"model":"big/\\"x\\"","stream":true}',
    ],
    [
      "the target's model, if it is the same",
      '{ "model":"m","stream":true}',
      { model: "m" },
      '{ "model":"m","stream":true}',
    ],
    [
      "a seed beyond 2^53 survives an edit",
      '{"model":"m","seed":9007199254740993,"t":1.50,"stream":true}',
      { model: "n" },
      '{"model":"n","seed":9007199254740993,"t":1.50,"stream":true}',
    ],
    [
      "stream turned off, and nothing else",
      '{"model":"m","stream":true,"seed":9007199254740993,"stream_options":{"include_usage":true},"n":2}',
      { form: WHOLE },
      '{"model":"m","stream":false,"seed":9007199254740993,"n":2}',
    ],
    [
      "the key left out",
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
      { form: { ...WHOLE, omitKey: true } },
      '{"model":"m"}',
    ],
    [
      "the key left out when it says false",
      '{"model":"m","stream":false}',
      { form: { ...WHOLE, omitKey: true }, clientStreams: false },
      '{"model":"m"}',
    ],
    [
      "options left out, still a stream",
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
      { form: { ...STREAM, options: false } },
      '{"model":"m","stream":true}',
    ],
    [
      "options of a client that streams, as they are",
      '{"model":"m","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
      {},
      '{"model":"m","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
    ],
    [
      "a stream for a client that wants JSON, with usage",
      '{"model":"m"}',
      { clientStreams: false },
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      "a stream for a client that said false",
      '{"model":"m","stream":false}',
      { clientStreams: false },
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      "a stream for a client that wants JSON, where options are refused",
      '{"model":"m"}',
      { clientStreams: false, form: { ...STREAM, options: false } },
      '{"model":"m","stream":true}',
    ],
    [
      "stream_options of a client that wants JSON do not go along",
      '{"model":"m","stream_options":{"include_usage":true}}',
      { form: WHOLE, clientStreams: false },
      '{"model":"m"}',
    ],
    [
      "stream_options in another spelling do not go along either",
      '{"model":"m","stream\\u005foptions":{"include_usage":true}}',
      { form: WHOLE, clientStreams: false },
      '{"model":"m"}',
    ],
    [
      "nulls mean the default and are left out",
      '{"model":"m","stream":true,"temperature":null,"tools":null,"stop":null}',
      {},
      '{"model":"m","stream":true}',
    ],
    [
      "nulls inside stay",
      '{"model":"m","stream":true,"messages":[{"role":"assistant","content":null}]}',
      {},
      '{"model":"m","stream":true,"messages":[{"role":"assistant","content":null}]}',
    ],
    ["stream: null", '{"model":"m","stream":null}', { form: WHOLE, clientStreams: false }, '{"model":"m"}'],
    [
      "defaults fill what was left out",
      '{"model":"m","stream":true}',
      { defaults: { temperature: 0.2, stop: ["x"] } },
      '{"model":"m","stream":true,"temperature":0.2,"stop":["x"]}',
    ],
    [
      "defaults fill what was null",
      '{"model":"m","stream":true,"temperature":null}',
      { defaults: { temperature: 0.2 } },
      '{"model":"m","stream":true,"temperature":0.2}',
    ],
    [
      "defaults override nothing",
      '{"model":"m","stream":true,"temperature":0}',
      { defaults: { temperature: 0.2 } },
      '{"model":"m","stream":true,"temperature":0}',
    ],
    [
      "false, 0 and empty are said, not left out",
      '{"model":"m","stream":true,"logprobs":false,"n":0,"user":"","tools":[]}',
      { defaults: { logprobs: true, n: 2, user: "u", tools: [1] } },
      '{"model":"m","stream":true,"logprobs":false,"n":0,"user":"","tools":[]}',
    ],
    [
      "a default of max_tokens yields to max_completion_tokens",
      '{"model":"m","stream":true,"max_completion_tokens":5}',
      { defaults: { max_tokens: 9 } },
      '{"model":"m","stream":true,"max_completion_tokens":5}',
    ],
    [
      "a default of max_completion_tokens yields to max_tokens",
      '{"model":"m","stream":true,"max_tokens":5}',
      { defaults: { max_completion_tokens: 9 } },
      '{"model":"m","stream":true,"max_tokens":5}',
    ],
    [
      "a default that is null adds nothing",
      '{"model":"m","stream":true}',
      { defaults: { temperature: null } },
      '{"model":"m","stream":true}',
    ],
    [
      "a key that stands twice goes once, as it was checked",
      '{"model":"a","stream":false,"model":"m","stream":true}',
      {},
      '{"model":"m","stream":true}',
    ],
    [
      "__proto__ is a member like any other",
      '{"model":"m","stream":true,"__proto__":{"stream":false}}',
      {},
      '{"model":"m","stream":true,"__proto__":{"stream":false}}',
    ],
  ])("%s", (_name, text, call, expected) => expect(body(text, call)).toBe(expected));

  it("defaults do not decide about stream, stream_options or model", () => {
    const defaults = { stream: true, stream_options: { include_usage: true }, model: "other" };
    expect(JSON.parse(body('{"model":"m"}', { form: WHOLE, clientStreams: false, defaults }))).not.toHaveProperty(
      "stream",
      true,
    );
    expect(JSON.parse(body('{"model":"m"}', { form: WHOLE, clientStreams: false, defaults }))).not.toHaveProperty(
      "stream_options",
    );
    expect(
      JSON.parse(body('{"model":"m","stream":true}', { form: { ...STREAM, options: false }, defaults })),
    ).not.toHaveProperty("stream_options");
    expect(JSON.parse(body('{"model":"m","stream":true}', { defaults }))).toHaveProperty("model", "m");
  });

  it("does not answer a repeated key with the first value, nor with a second one in the text", () => {
    const sent = body('{"model":"m","stream":true,"n":1,"n":2}', { form: WHOLE });
    expect(sent).toBe('{"model":"m","stream":false,"n":2}');
  });
});

describe("headersFor", () => {
  const form: AskedForm = { stream: false, omitKey: false, options: true };
  const secrets: Readonly<Record<string, string>> = { KEY: "sk-1", TOKEN: "tok" };
  const headers = (target: Parameters<typeof targetOf>[0], stream = false): unknown => {
    const result = headersFor(targetOf(target), { ...form, stream }, "sluice-1", (name) => secrets[name]);
    return result.ok ? result.value : [result.error.status, result.error.error.code];
  };
  const PLAIN = {
    "content-type": "application/json",
    accept: "application/json",
    "user-agent": "sluice",
    "x-request-id": "sluice-1",
  };

  it("asks for JSON", () => expect(headers({})).toEqual(PLAIN));
  it("asks for a stream, uncompressed", () =>
    expect(headers({}, true)).toEqual({ ...PLAIN, accept: "text/event-stream", "accept-encoding": "identity" }));
  it("carries the credential as the provider wants it", () => {
    expect(headers({ credential: "KEY" })).toEqual({ ...PLAIN, authorization: "Bearer sk-1" });
    const provider = { ...targetOf().provider, auth: { header: "x-api-key", prefix: "" } };
    expect(headers({ credential: "KEY", provider })).toEqual({ ...PLAIN, "x-api-key": "sk-1" });
  });
  it("carries the operator's headers, secrets by name, in one spelling", () => {
    expect(headers({ headers: { "X-Team": "red", "CF-Access-Client-Secret": { secret: "TOKEN" } } })).toEqual({
      ...PLAIN,
      "x-team": "red",
      "cf-access-client-secret": "tok",
    });
  });
  it("the operator's headers come before our own", () => {
    expect(headers({ credential: "KEY", headers: { Authorization: "Basic abc", "User-Agent": "acme" } })).toEqual({
      ...PLAIN,
      authorization: "Basic abc",
      "user-agent": "acme",
    });
  });
  it("a missing secret is the operator's fault", () => {
    expect(headers({ credential: "GONE" })).toEqual([502, "credential_missing"]);
    expect(headers({ headers: { x: { secret: "GONE" } } })).toEqual([502, "credential_missing"]);
  });
  it("does not name the secret to the tenant", () => {
    const result = headersFor(targetOf({ credential: "GONE_KEY" }), form, "r", () => undefined);
    expect(result.ok ? "" : JSON.stringify(result.error)).not.toContain("GONE_KEY");
  });
});
