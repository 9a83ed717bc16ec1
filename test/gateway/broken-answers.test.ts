import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FORMS, outcomeOf } from "./outcome.ts";
import { oneTenant, startRig, type Rig } from "./rig.ts";
import { always, type Script } from "./scripted-upstream.ts";
import { completion, done, inChunk, jsonHead, lastChunk, role, says, streamHead } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => oneTenant(url) });
});
afterAll(() => rig.stop());

describe.concurrent.each(FORMS)("asked for %s", (_form, stream) => {
  test.each<[string, Script, string]>([
    ["on accept", ({ socket }) => void socket.resetAndDestroy(), "upstream_unreachable"],
    ["by a close without a byte", ({ socket }) => void socket.end(), "upstream_unreachable"],
    [
      "inside the status line",
      async ({ put, socket }) => (await put("HTTP/1.1 20"), void socket.end()),
      "upstream_unreachable",
    ],
    [
      "inside the headers",
      async ({ put, socket }) => (await put("HTTP/1.1 200 OK\r\nConte"), void socket.resetAndDestroy()),
      "upstream_unreachable",
    ],
    [
      "after the headers",
      async ({ put, wait, socket }) => (await put(streamHead()), await wait(20), void socket.resetAndDestroy()),
      "upstream_cut",
    ],
    ["with no HTTP at all", always("SSH-2.0-OpenSSH_9.9\r\n\r\n"), "upstream_unreachable"],
  ])("an upstream that breaks off %s", async (_when, script, code) => {
    expect(await outcomeOf(rig, stream, script)).toEqual({ status: 502, code });
  });

  test.each<[string, Script]>([
    [
      "by reset",
      async ({ put, wait, socket }) => (
        await put(streamHead() + inChunk(role + says("half"))),
        await wait(50),
        void socket.resetAndDestroy()
      ),
    ],
    [
      "by close",
      async ({ put, wait, socket }) => (
        await put(streamHead() + inChunk(role + says("half"))),
        await wait(50),
        void socket.end()
      ),
    ],
    ["by a well-framed end without a finish", always(streamHead() + inChunk(role + says("half")) + lastChunk)],
    ["by [DONE] without a finish", always(streamHead() + inChunk(role + says("half") + done) + lastChunk)],
    [
      "inside an event",
      async ({ put, wait, socket }) => (
        await put(streamHead() + inChunk(`${role}${says("half")}data: {"cho`)),
        await wait(50),
        void socket.end()
      ),
    ],
    ["by a chunk size that is none", always(`${streamHead()}${inChunk(role + says("half"))}zz\r\nrubbish\r\n`)],
    [
      "by a chunk longer than its size",
      always(`${streamHead()}${inChunk(role + says("half"))}3\r\nabcdef\r\n0\r\n\r\n`),
    ],
  ])("a stream cut %s is no whole answer", async (_how, script) => {
    const told = await outcomeOf(rig, stream, script);
    expect(told).toEqual(
      stream ? { status: 200, text: "half", code: "upstream_cut" } : { status: 502, code: "upstream_cut" },
    );
  });

  test.each<[string, Script]>([
    [
      "by reset",
      async ({ put, wait, socket }) => (
        await put(jsonHead(300) + completion("half").slice(0, 100)),
        await wait(50),
        void socket.resetAndDestroy()
      ),
    ],
    [
      "by close",
      async ({ put, wait, socket }) => (
        await put(jsonHead(300) + completion("half").slice(0, 100)),
        await wait(50),
        void socket.end()
      ),
    ],
    [
      "one byte before its length",
      async ({ put, wait, socket }) => (
        await put(jsonHead(completion("half").length + 1) + completion("half")),
        await wait(50),
        void socket.end()
      ),
    ],
  ])("a JSON answer cut %s is no whole answer", async (_how, script) => {
    expect(await outcomeOf(rig, stream, script)).toEqual({ status: 502, code: "upstream_cut" });
  });

  test("a JSON answer cut by the end of an unframed body is no whole answer", async () => {
    const told = await outcomeOf(rig, stream, async ({ put, socket }) => {
      await put(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n${completion("half").slice(0, 100)}`,
      );
      socket.end();
    });
    expect(told.status).toBe(502);
    expect(told.code).toMatch(/^upstream_(?:cut|invalid)$/);
  });
});
