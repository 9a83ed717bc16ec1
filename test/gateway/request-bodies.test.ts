import { deflateSync, gzipSync, deflateRawSync, brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRaw, rawRequest, type RawAnswer } from "./raw-client.ts";
import { errorOf, KEY, messages, oneTenant, startRig, type Rig } from "./rig.ts";
import { completion, response } from "./wire.ts";

const maxBytes = 100_000;
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => ({ ...oneTenant(url), max_body_bytes: maxBytes }) });
  rig.upstream.answer("m", ({ put }) => put(response(200, completion("served"))));
});
afterAll(() => rig.stop());

const good = JSON.stringify({ model: "m", messages });

async function send(
  body: string | Uint8Array,
  headers: readonly string[] = [],
): Promise<RawAnswer & { code?: string; param?: string | null }> {
  const client = await openRaw(
    rig.gateway.url,
    rawRequest("POST /v1/chat/completions", [`authorization: Bearer ${KEY}`, ...headers], body),
  );
  const answer = await client.answer();
  client.close();
  const { error } = JSON.parse(answer.body) as { error?: { code: string; param: string | null } };
  return { ...answer, ...error };
}

const chunked = (parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]),
    Buffer.from("0\r\n\r\n"),
  ]);

const bodySeen = (): string => rig.upstream.asked("m").at(-1)?.body ?? "";

describe("what is not a chat request", () => {
  test.each<[string, string | Uint8Array, string, string | null]>([
    ["nothing", "", "invalid_json", null],
    ["no JSON", "{broken", "invalid_json", null],
    ["a text", '"hello"', "invalid_type", null],
    ["a list", `[${good}]`, "invalid_type", null],
    ["null", "null", "invalid_type", null],
    ["two objects", good + good, "invalid_json", null],
    ["a body cut short", good.slice(0, -4), "invalid_json", null],
    ["invalid UTF-8", Buffer.from(good.replace("hello", "\xff\xfe"), "latin1"), "invalid_json", null],
    ["UTF-16", Buffer.from(good, "utf16le"), "invalid_json", null],
    ["a form", "model=m&messages=x", "invalid_json", null],
    ["no model", JSON.stringify({ messages }), "missing_required_parameter", "model"],
    ["an empty model", JSON.stringify({ model: "", messages }), "invalid_type", "model"],
    ["a blank model", JSON.stringify({ model: " ", messages }), "invalid_type", "model"],
    ["a model that is a number", JSON.stringify({ model: 5, messages }), "invalid_type", "model"],
    [
      "a model by way of the prototype",
      `{"__proto__":{"model":"m"},"messages":[{"role":"user","content":"x"}]}`,
      "missing_required_parameter",
      "model",
    ],
    [
      "messages by way of the prototype",
      `{"__proto__":{"messages":[{"role":"user"}]},"model":"m"}`,
      "missing_required_parameter",
      "messages",
    ],
    ["no messages", JSON.stringify({ model: "m" }), "missing_required_parameter", "messages"],
    ["empty messages", JSON.stringify({ model: "m", messages: [] }), "invalid_type", "messages"],
    ["messages that are none", JSON.stringify({ model: "m", messages: ["hi"] }), "invalid_type", "messages[0]"],
    [
      "a null among the messages",
      JSON.stringify({ model: "m", messages: [...messages, null] }),
      "invalid_type",
      "messages[1]",
    ],
    [
      "a message without a role",
      JSON.stringify({ model: "m", messages: [{ content: "x" }] }),
      "invalid_type",
      "messages[0].role",
    ],
    [
      "a role by way of the prototype",
      `{"model":"m","messages":[{"__proto__":{"role":"user"}}]}`,
      "invalid_type",
      "messages[0].role",
    ],
    ["a stream that is a text", JSON.stringify({ model: "m", messages, stream: "true" }), "invalid_type", "stream"],
    ["a stream that is a number", JSON.stringify({ model: "m", messages, stream: 1 }), "invalid_type", "stream"],
    ["n of zero", JSON.stringify({ model: "m", messages, n: 0 }), "invalid_type", "n"],
    ["a broken n", JSON.stringify({ model: "m", messages, n: 1.5 }), "invalid_type", "n"],
    ["an n as text", JSON.stringify({ model: "m", messages, n: "2" }), "invalid_type", "n"],
    [
      "a deep list",
      `{"model":"m","messages":[{"role":"user","content":"x"}],"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
      "invalid_value",
      null,
    ],
    [
      "a deep object",
      `{"model":"m","messages":[{"role":"user","content":"x"}],"x":${'{"a":'.repeat(9000)}1${"}".repeat(9000)}}`,
      "invalid_value",
      null,
    ],
    [
      "deep messages",
      `{"model":"m","messages":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
      "invalid_type",
      "messages[0]",
    ],
  ])("%s is a 400 that asks nobody", async (_what, body, code, param) => {
    const before = rig.upstream.asked("m").length;
    const { status, ...error } = await send(body);
    expect({ status, code: error.code, param: error.param }).toEqual({ status: 400, code, param });
    expect(rig.upstream.asked("m")).toHaveLength(before);
  });
});

describe("what passes, and how", () => {
  test.each<[string, string, readonly string[]]>([
    ["another content type", good, ["content-type: text/plain"]],
    ["no content type", good, []],
    ["a byte order mark", `\ufeff${good}`, []],
    ["white space around it", ` \r\n\t${good}\n`, []],
    ["identity as its encoding", good, ["content-encoding: identity"]],
    ["null for what is left out", JSON.stringify({ model: "m", messages, stream: null, n: null, tools: null }), []],
    [
      "unknown fields, roles and parts",
      JSON.stringify({
        model: "m",
        messages: [{ role: "critic", content: [{ type: "hologram", x: 1 }] }],
        future: { a: [1] },
      }),
      [],
    ],
  ])("%s", async (_what, body, headers) => {
    expect((await send(body, headers)).status).toBe(200);
  });

  test("of a key that stands twice the upstream sees what was checked", async () => {
    const twice =
      '{"model":"forbidden","mod\\u0065l":"m","messages":[],"messages":[{"role":"user","content":"x"}],"stream":true,"stream":false}';
    expect((await send(twice)).status).toBe(200);
    const seen = bodySeen();
    expect(seen).not.toContain("forbidden");
    expect(seen.match(/"(?:model|mod\\u0065l)"/g)).toHaveLength(1);
    expect(seen.match(/"stream"/g)).toHaveLength(1);
    expect(JSON.parse(seen)).toEqual({ model: "m", messages: [{ role: "user", content: "x" }], stream: false });
  });

  test("prototype keys, numbers, escapes and half characters reach the upstream as they were sent", async () => {
    const odd =
      '{"model":"m","messages":[{"role":"user","content":"\\ud83d\\ude00 \\ud800 \\u0000 \\/","__proto__":{"x":1}}],"seed":9007199254740993,"top_p":1.50,"__proto__":{"y":2},"constructor":{"z":3}}';
    expect((await send(odd)).status).toBe(200);
    expect(bodySeen()).toBe(odd);
  });

  test.each<[string, Uint8Array, string]>([
    ["gzip", gzipSync(good), "gzip"],
    ["gzip in capitals", gzipSync(good), "GZIP"],
    ["deflate", deflateSync(good), "deflate"],
  ])("%s", async (_what, body, encoding) => {
    const answer = await send(body, [`content-encoding: ${encoding}`]);
    if (answer.status !== 415) expect(answer.status).toBe(200);
    if (answer.status === 200) expect(JSON.parse(bodySeen())).toEqual(JSON.parse(good));
  });

  test.each<[string, Uint8Array, string]>([
    ["brotli", brotliCompressSync(good), "br"],
    ["zstd", Buffer.from(good), "zstd"],
    ["gzip twice", gzipSync(gzipSync(good)), "gzip, gzip"],
    ["a word that nobody knows", Buffer.from(good), "rot13"],
  ])("%s is a 415", async (_what, body, encoding) => {
    expect(await send(body, [`content-encoding: ${encoding}`])).toMatchObject({
      status: 415,
      code: "unsupported_content_encoding",
    });
  });

  test.each<[string, Uint8Array, string]>([
    ["plain text called gzip", Buffer.from(good), "gzip"],
    ["half of a gzip", gzipSync(good).subarray(0, 40), "gzip"],
    ["raw deflate called gzip", deflateRawSync(good), "gzip"],
    ["gzip called identity", gzipSync(good), "identity"],
  ])("%s is a 400", async (_what, body, encoding) => {
    expect(await send(body, [`content-encoding: ${encoding}`])).toMatchObject({ status: 400, code: "invalid_json" });
  });
});

describe("max_body_bytes", () => {
  const padded = (length: number): string => good.slice(0, -1) + " ".repeat(length - good.length) + good.slice(-1);

  test("is the last length that passes, with a length and without", async () => {
    expect((await send(padded(maxBytes))).status).toBe(200);
    expect((await send(chunked([Buffer.from(padded(maxBytes))]), ["transfer-encoding: chunked"])).status).toBe(200);
    expect((await send(gzipSync(padded(maxBytes)), ["content-encoding: gzip"])).status).toBe(200);
    const beyond = { status: 413, code: "body_too_large" };
    expect(await send(padded(maxBytes + 1))).toMatchObject(beyond);
    expect(await send(chunked([Buffer.from(padded(maxBytes + 1))]), ["transfer-encoding: chunked"])).toMatchObject(
      beyond,
    );
    expect(await send(gzipSync(padded(maxBytes + 1)), ["content-encoding: gzip"])).toMatchObject(beyond);
  });

  test.each<[string, Uint8Array, string]>([
    ["gzip", gzipSync(Buffer.alloc(60_000_000, 0x20)), "gzip"],
    ["deflate", deflateSync(Buffer.alloc(60_000_000, 0x20)), "deflate"],
  ])("a bomb of %s is not unpacked", async (_what, body, encoding) => {
    expect(body.length).toBeLessThan(maxBytes);
    expect(await send(body, [`content-encoding: ${encoding}`])).toMatchObject({ status: 413, code: "body_too_large" });
  });

  test("a length that is only claimed is refused before anything comes", async () => {
    expect(await send("", ["content-length: 99999999"])).toMatchObject({ status: 413, code: "body_too_large" });
  });

  test("a body in chunks that never ends is refused when it is too long, not read on", async () => {
    const client = await openRaw(
      rig.gateway.url,
      rawRequest("POST /v1/chat/completions", [`authorization: Bearer ${KEY}`, "transfer-encoding: chunked"]),
    );
    const part = Buffer.from(`${(10_000).toString(16)}\r\n${" ".repeat(10_000)}\r\n`);
    let sent = 0;
    for (; sent < 5_000_000 && !client.received().includes("413") && !client.socket.destroyed; sent += 10_000) {
      client.socket.write(part);
      await new Promise((settle) => setTimeout(settle, 1));
    }
    expect((await client.answer()).status).toBe(413);
    client.close();
  });

  test("the refusal is readable for a client that sends it all first", async () => {
    expect(await errorOf(await rig.ask({}, { body: " ".repeat(30_000_000) }))).toMatchObject({
      status: 413,
      code: "body_too_large",
    });
  });

  test.each([200_000, 3_000_000])("so is that of a wrong key, behind %i bytes", async (length) => {
    const wrong = { body: " ".repeat(length), headers: { authorization: "Bearer sk-wrong" } };
    expect(await errorOf(await rig.ask({}, wrong))).toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("nobody without a key is read at all", async () => {
    const client = await openRaw(
      rig.gateway.url,
      rawRequest("POST /v1/chat/completions", ["content-length: 1000"], "{"),
    );
    expect((await client.answer()).status).toBe(401);
    client.close();
  });
});
