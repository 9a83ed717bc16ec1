import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRaw, rawRequest } from "./raw-client.ts";
import { KEY, messages, oneTenant, readEvents, startRig, type Rig } from "./rig.ts";
import { done, finish, inChunk, lastChunk, role, says, streamHead } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => oneTenant(url, { idle: { idle_ms: 700, keep_alive_ms: 200 } }) });
});
afterAll(() => rig.stop());

const request = (model: string): Buffer =>
  rawRequest(
    "POST /v1/chat/completions",
    [`authorization: Bearer ${KEY}`],
    JSON.stringify({ model, messages, stream: true }),
  );

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;

const pieces = 1200;
const pieceBytes = 50_000;
const piece = (i: number): string => String(i % 10).repeat(pieceBytes);

/** Lets a client that has read the beginning stop for a while; gives back what reached it in the end. */
async function readWithPause(
  model: string,
  pauseMs: number,
): Promise<{ body: string; sentAtPause: number; grown: number }> {
  let sent = 0;
  rig.upstream.answer(model, async ({ put }) => {
    await put(streamHead() + inChunk(role));
    for (let i = 0; i < pieces; i++) if (await put(inChunk(says(piece(i))))) sent += pieceBytes;
    await put(inChunk(finish + done) + lastChunk);
  });
  const before = memoryOf(rig.gateway.pid);
  const client = await openRaw(rig.gateway.url, request(model));
  await client.until('"000');
  client.socket.pause();
  await new Promise((settle) => setTimeout(settle, pauseMs));
  const sentAtPause = sent;
  const grown = memoryOf(rig.gateway.pid) - before;
  client.socket.resume();
  const { body } = await client.answer();
  return { body, sentAtPause, grown };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const wholeText = Array.from({ length: pieces }, (_, i) => piece(i)).join("");

test("a client that stops reading slows the upstream, costs bounded memory and loses nothing", async () => {
  const { body, sentAtPause, grown } = await readWithPause(rig.model("m/"), 1500);
  // What has left by then lies in the buffers of sockets.
  expect(sentAtPause).toBeLessThan(pieces * pieceBytes * 0.7);
  expect(grown).toBeLessThan(60_000_000);
  const read = readEvents(body);
  expect(read).toMatchObject({ done: true, error: undefined, behind: 0 });
  expect(digest(read.text)).toBe(digest(wholeText));
});

test("the time a client takes is not held against the upstream", async () => {
  const { body } = await readWithPause(rig.model("idle/"), 2500);
  const read = readEvents(body);
  expect(read.error).toBeUndefined();
  expect(digest(read.text)).toBe(digest(wholeText));
});
