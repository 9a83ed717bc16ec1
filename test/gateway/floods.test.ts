import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerTo, FORMS, outcomeOf } from "./outcome.ts";
import { oneTenant, startRig, type Rig } from "./rig.ts";
import { always, type Script } from "./scripted-upstream.ts";
import { chunkOf, done, event, finish, inChunk, lastChunk, role, streamHead, streamOf } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => oneTenant(url) });
});
afterAll(() => rig.stop());

describe.concurrent.each(FORMS)("asked for %s", (_form, stream) => {
  test("an event of 5 MB passes, one beyond every bound does not", async () => {
    const large = "x".repeat(5_000_000);
    expect(await outcomeOf(rig, stream, always(streamOf(large)))).toEqual({ status: 200, text: large });
    const endless: Script = async ({ put }) => {
      await put(`${streamHead()}${inChunk(role)}`);
      for (let open = true; open;) open = await put(inChunk(`data: ${"x".repeat(1_000_000)}`));
    };
    expect(await outcomeOf(rig, stream, endless)).toEqual({ status: 502, code: "upstream_too_large" });
  });

  test.each<[string, string, string]>([
    ["white space before an answer", streamHead(), " ".repeat(500_000)],
    ["events that answer nothing", streamHead() + inChunk(role), event(chunkOf({ vendor_state: "v".repeat(500_000) }))],
    ["JSON", streamHead(), `{"a":"${"x".repeat(500_000)}",`],
    ["an error", "HTTP/1.1 400 X\r\nTransfer-Encoding: chunked\r\n\r\n", "x".repeat(500_000)],
  ])("an endless flood of %s is not kept", async (_what, head, flood) => {
    let sent = 0;
    const limit = 80_000_000;
    const answer = await answerTo(rig, stream, async ({ put, socket }) => {
      await put(head);
      for (let open = true; open && sent < limit; sent += flood.length) open = await put(inChunk(flood));
      socket.resetAndDestroy();
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    await answer.text();
    expect(sent).toBeLessThan(limit);
  });

  test("more tool calls than any bound are refused", async () => {
    const calls = Array.from({ length: 2000 }, (_, i) => ({
      index: i,
      id: `c${i}`,
      type: "function",
      function: { name: "f", arguments: "{}" },
    }));
    const told = await outcomeOf(
      rig,
      stream,
      always(
        streamHead() + inChunk(event(chunkOf({ role: "assistant", tool_calls: calls })) + finish + done) + lastChunk,
      ),
    );
    expect(told.code).toBe("upstream_invalid");
  });
});
