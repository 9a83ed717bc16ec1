import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { ask, bodyFor, gist, modes, refusal } from "../ask.ts";
import { lastText, newClient, rig, viaGateway } from "../client.ts";
import { occupyPlain, untilIdle, untilWaiting } from "../crowd.ts";
import { endless, say } from "../say.ts";

afterEach(() => untilIdle(rig.plainUrl));

/** Long enough for vLLM's comments (one a second) and for several of ours, where they are due (every 300 ms). */
const silenceMs = 2_300;

async function waitInQueue(model: string): Promise<{ readonly comments: number; readonly content: string }> {
  const busy = await occupyPlain();
  try {
    const asked = ask({ model, mode: "streamed" }, say("Hello"));
    await untilWaiting(rig.plainUrl, 1, asked);
    await sleep(silenceMs);
    await busy.end();
    const [choice] = gist(await asked);
    return { comments: (await lastText()).match(/^:/gm)?.length ?? 0, content: choice?.content ?? "" };
  } finally {
    await busy.end();
  }
}

test("a stream that waits for its turn is kept alive", async () => {
  const { comments, content } = await waitInQueue("plain-patient");
  expect(content).toBe("Hello");
  expect(comments).toBeGreaterThanOrEqual(viaGateway ? 4 : 1);
  if (viaGateway) expect(await lastText()).toMatch(/^: keep-alive\n\n/);
});

test.runIf(viaGateway)("the comments of vLLM's own do not leave", async () => {
  expect(await waitInQueue("plain")).toEqual({ comments: 0, content: "Hello" });
});

test("a whole answer waits for its turn", async () => {
  const busy = await occupyPlain();
  try {
    const asked = ask({ model: "plain", mode: "whole" }, say("Hello"));
    await untilWaiting(rig.plainUrl, 1, asked);
    await busy.end();
    expect(gist(await asked)).toMatchObject([{ content: "Hello", finish: "stop" }]);
  } finally {
    await busy.end();
  }
});

describe.each(modes)("%s", (mode) => {
  test("a full queue is a 503 of the upstream's", async () => {
    const busy = await occupyPlain();
    const leave = new AbortController();
    const model = viaGateway ? "plain" : "tiny";
    const queued = [1, 2].map(() =>
      newClient("plain").chat.completions.create(bodyFor(model, endless), { signal: leave.signal }),
    );
    const over = Promise.allSettled(queued);
    try {
      await untilWaiting(rig.plainUrl, 2, Promise.race(queued));
      const error = await refusal("plain", mode, say("Hello"));
      expect(error.status).toBe(503);
      expect(error.message).toContain("busy");
    } finally {
      leave.abort();
      await over;
      await busy.end();
    }
  });

  test.runIf(viaGateway)("a deadline that passes in the queue: 504, and vLLM is told", async () => {
    const busy = await occupyPlain();
    try {
      expect(await refusal("plain-hasty", mode, say("Hello"))).toMatchObject({ status: 504, code: "upstream_timeout" });
      await untilWaiting(rig.plainUrl, 0);
    } finally {
      await busy.end();
    }
  });
});
