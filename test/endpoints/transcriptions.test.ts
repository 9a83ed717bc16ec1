import { request as httpRequest } from "node:http";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envelopeOf, KEY, sendJson, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ local: {} });
});
afterAll(() => rig.stop());

const part = (disposition: string, content: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--b0undary\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
const model = (name: string): Buffer => part('name="model"', name);
const sound = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7) % 256));
const file = part('name="file"; filename="a.wav"', sound);
const END = Buffer.from("--b0undary--\r\n");
const TYPE = 'multipart/form-data; boundary="b0undary"';

const send = (form: Buffer, type = TYPE, path = "/v1/audio/transcriptions"): Promise<Response> =>
  fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": type },
    body: new Uint8Array(form),
  });

describe("a form", () => {
  test.each([
    ["with its model first", Buffer.concat([model("m"), file, END])],
    ["with its model last", Buffer.concat([file, model("m"), END])],
  ])("%s passes byte for byte", async (_what, form) => {
    rig.answer((_seen, response) => sendJson(response, { text: "hi" }));
    for (const path of ["/v1/audio/transcriptions", "/audio/translations"]) {
      const answer = await send(form, TYPE, path);
      expect([answer.status, await answer.json()]).toEqual([200, { text: "hi" }]);
      const seen = rig.seen.at(-1);
      expect(seen?.path).toBe(path.startsWith("/v1") ? path : `/v1${path}`);
      expect(seen?.body.equals(form)).toBe(true);
      expect(seen?.headers["content-type"]).toBe(TYPE);
      expect(seen?.headers["content-length"]).toBe(String(form.length));
    }
  });

  test("names the model of the target", async () => {
    rig.answer((_seen, response) => sendJson(response, { text: "hi" }));
    for (const order of [
      [model("renamed"), file],
      [file, model("renamed")],
    ]) {
      await send(Buffer.concat([...order, END]));
      const expected = Buffer.concat([...order.map((one) => (one === file ? file : model("there"))), END]);
      expect(rig.seen.at(-1)?.body.equals(expected)).toBe(true);
    }
  });

  test("of the openai client", async () => {
    rig.answer((_seen, response) => sendJson(response, { text: "hi" }));
    const { text } = await rig
      .client()
      .audio.transcriptions.create({ model: "local/whisper", file: await toFile(sound, "a.wav"), language: "de" });
    expect(text).toBe("hi");
    expect(rig.seen[0]?.body.includes(sound)).toBe(true);
  });

  test("may be answered in text and in events", async () => {
    rig.answer(
      (_seen, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("1\n00:00 --> 00:01\nhi"),
    );
    const answer = await send(Buffer.concat([model("m"), file, END]));
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual(["text/plain", "1\n00:00 --> 00:01\nhi"]);
  });

  test("streams on as soon as its model is known", async () => {
    let arrived = 0;
    rig.early((request, response) => {
      request.on("data", (bytes: Buffer) => (arrived += bytes.length));
      request.on("end", () => sendJson(response, { text: "hi" }));
    });
    const { port, hostname } = new URL(rig.gateway.url);
    const outgoing = httpRequest({
      port,
      hostname,
      path: "/v1/audio/transcriptions",
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": TYPE },
    });
    outgoing.write(model("m"));
    outgoing.write(file.subarray(0, 50_000));
    await expect.poll(() => arrived, { timeout: 10_000 }).toBe(model("m").length + 50_000);
    const answered = new Promise<number | undefined>((settle) =>
      outgoing.on("response", (response) => settle(response.resume().statusCode)),
    );
    outgoing.end(Buffer.concat([file.subarray(50_000), END]));
    expect(await answered).toBe(200);
  });

  test("whose client leaves is given up", async () => {
    let gone = false;
    rig.early((request) => {
      request.resume();
      request.on("error", () => undefined);
      request.on("close", () => (gone = true));
    });
    const { port, hostname } = new URL(rig.gateway.url);
    const outgoing = httpRequest({
      port,
      hostname,
      path: "/v1/audio/transcriptions",
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": TYPE },
    });
    outgoing.on("error", () => undefined);
    outgoing.write(model("m"));
    outgoing.write(file);
    await new Promise((settle) => setTimeout(settle, 200));
    outgoing.destroy();
    await expect.poll(() => gone, { timeout: 10_000 }).toBe(true);
  });
});

describe("errors", () => {
  test.each<[string, Buffer, string, number, string, string | null]>([
    ["no multipart", Buffer.from("this is no multipart body"), TYPE, 400, "invalid_value", null],
    ["JSON", Buffer.from("{}"), "application/json", 400, "invalid_value", null],
    ["no boundary", Buffer.concat([model("m"), END]), "multipart/form-data", 400, "invalid_value", null],
    ["no model", Buffer.concat([file, END]), TYPE, 400, "missing_required_parameter", "model"],
    ["an empty model", Buffer.concat([model(""), file, END]), TYPE, 400, "missing_required_parameter", "model"],
    ["cut off before its model", file, TYPE, 400, "invalid_value", null],
    ["nothing", Buffer.from(""), TYPE, 400, "invalid_value", null],
    [
      "a second model, behind the file",
      Buffer.concat([model("m"), file, model("other"), END]),
      TYPE,
      400,
      "invalid_value",
      "model",
    ],
    [
      "a file too large before the model",
      Buffer.concat([part('name="file"', Buffer.alloc(25 * 1024 * 1024)), model("m"), END]),
      TYPE,
      413,
      "body_too_large",
      null,
    ],
  ])("%s", async (_what, form, type, status, code, param) => {
    rig.answer((_seen, response) => sendJson(response, { text: "hi" }));
    expect(await envelopeOf(await send(form, type))).toMatchObject({ status, code, param });
    expect(rig.seen).toHaveLength(0);
  });

  test("an unknown tenant's form is not read, a content encoding is refused", async () => {
    const form = new Uint8Array(Buffer.concat([model("m"), END]));
    const answer = await fetch(`${rig.gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { "content-type": TYPE },
      body: form,
    });
    expect(await envelopeOf(answer)).toMatchObject({ status: 401, code: "missing_api_key" });
    const encoded = await fetch(`${rig.gateway.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": TYPE, "content-encoding": "gzip" },
      body: form,
    });
    expect((await envelopeOf(encoded)).status).toBe(415);
  });

  test("the upstream's are envelopes, also when it does not read on", async () => {
    rig.early((_request, response) =>
      sendJson(response, { error: { message: "file too long", type: "invalid_request_error" } }, 400),
    );
    const big = part('name="file"', Buffer.alloc(8 * 1024 * 1024, 1));
    expect(await envelopeOf(await send(Buffer.concat([model("m"), big, END])))).toMatchObject({
      status: 400,
      message: "file too long",
    });
  });
});
