import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRaw, rawRequest, type RawClient } from "./raw-client.ts";
import { eventually, KEY, messages, oneTenant, startRig, type Rig } from "./rig.ts";
import type { Script } from "./scripted-upstream.ts";
import { completion, finish, inChunk, jsonHead, refusal, response, role, says, streamHead } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ relay: true, document: (url) => oneTenant(url, { prefer: { prefer_stream: true } }) });
});
afterAll(() => rig.stop());

const ways = [
  ["resets", (client: RawClient) => client.reset()],
  ["closes", (client: RawClient) => client.close()],
  ["ends its side", (client: RawClient) => void client.socket.end()],
] as const;

function request(body: object): Buffer {
  return rawRequest(
    "POST /v1/chat/completions",
    [`authorization: Bearer ${KEY}`, "content-type: application/json"],
    JSON.stringify({ messages, ...body }),
  );
}

/** Long enough for a loaded machine; what is promised is one second. */
const letGo = (model: string): Promise<void> =>
  eventually("the upstream is let go", () => rig.upstream.held(model) === 0, 3000);

const silent: Script = ({ gone }) => gone;
const after =
  (bytes: string): Script =>
  async ({ put, gone }) => (await put(bytes), gone);
const flowing: Script = async ({ put, wait }) => {
  await put(streamHead() + inChunk(role));
  for (let open = true; open; await wait(20)) open = await put(inChunk(says("x")));
};
const half = completion("half").slice(0, 60);
const refused: Script = ({ put }) => put(response(400, refusal("streaming not supported")));

describe.concurrent.each(ways)("a client that %s", (_way, leave) => {
  test.each<[string, boolean, string, readonly Script[], number]>([
    ["a stream: before headers", true, "m/", [silent], 1],
    ["a stream: after headers", true, "m/", [after(streamHead())], 1],
    ["a stream: after the role", true, "m/", [after(streamHead() + inChunk(role))], 1],
    ["a stream: inside the first event", true, "m/", [after(streamHead() + inChunk('data: {"id"'))], 1],
    ["a stream: half of a JSON answer", true, "m/", [after(jsonHead(500) + half)], 1],
    ["a stream: half of an error", true, "m/", [after('HTTP/1.1 500 X\r\nContent-Length: 500\r\n\r\n{"error":')], 1],
    ["a stream: asked again, before headers", true, "m/", [refused, silent], 2],
    ["a stream: asked again, half of it there", true, "m/", [refused, after(jsonHead(500) + half)], 2],
    ["JSON: before headers", false, "m/", [silent], 1],
    ["JSON: after headers", false, "m/", [after(jsonHead(500))], 1],
    ["JSON: half of it there", false, "m/", [after(jsonHead(500) + half)], 1],
    ["JSON: gathered, silent", false, "prefer/", [after(streamHead() + inChunk(role + says("x")))], 1],
    ["JSON: gathered, flowing", false, "prefer/", [flowing], 1],
    ["JSON: half of an error", false, "m/", [after('HTTP/1.1 500 X\r\nContent-Length: 500\r\n\r\n{"error":')], 1],
  ])("while it waits for %s", async (_stage, stream, prefix, scripts, requests) => {
    const model = rig.model(prefix);
    rig.upstream.answer(model, ...scripts);
    const client = await openRaw(rig.gateway.url, request({ model, stream }));
    await eventually("the upstream is asked", () => rig.upstream.asked(model).length === requests);
    await new Promise((settle) => setTimeout(settle, 60));
    expect(rig.upstream.held(model)).toBe(1);
    leave(client);
    await letGo(model);
    expect(rig.upstream.asked(model)).toHaveLength(requests);
  });

  test.each<[string, Script]>([
    ["flowing", flowing],
    ["silent between events", after(streamHead() + inChunk(role + says("x")))],
    ["silent inside an event", after(streamHead() + inChunk(`${role + says("x")}data: {`))],
    ["finished, but for [DONE]", after(streamHead() + inChunk(role + says("x") + finish))],
  ])("while a stream is %s", async (_stage, script) => {
    const model = rig.model("m/");
    rig.upstream.answer(model, script);
    const client = await openRaw(rig.gateway.url, request({ model, stream: true }));
    await client.until('"x"');
    expect(rig.upstream.held(model)).toBe(1);
    leave(client);
    await letGo(model);
  });

  test("while it reads too slowly for a stream", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(model, async ({ put }) => {
      await put(streamHead() + inChunk(role));
      for (let open = true; open;) open = await put(inChunk(says("y".repeat(50_000))));
    });
    const client = await openRaw(rig.gateway.url, request({ model, stream: true }));
    await client.until('"yyy');
    client.socket.pause();
    await new Promise((settle) => setTimeout(settle, 300));
    expect(rig.upstream.held(model)).toBe(1);
    leave(client);
    await letGo(model);
  });

  test("before its request is whole asks nobody", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(model, silent);
    const bytes = request({ model, stream: true });
    const client = await openRaw(rig.gateway.url, bytes.subarray(0, bytes.length - 5));
    await new Promise((settle) => setTimeout(settle, 100));
    leave(client);
    await new Promise((settle) => setTimeout(settle, 200));
    expect(rig.upstream.asked(model)).toHaveLength(0);
  });
});

test("a second request over the same connection is served after a first one that was left half way", async () => {
  const model = rig.model("m/");
  rig.upstream.answer(model, ({ put }) => put(response(200, completion("fine"))));
  for (let i = 0; i < 3; i++) expect((await rig.ask({ model })).status).toBe(200);
  expect(rig.gateway.logs()).not.toMatch(/uncaught|exception|internal_error/i);
});
