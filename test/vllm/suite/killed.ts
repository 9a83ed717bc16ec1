import { APIError } from "openai";
import { describe, expect, test } from "vitest";
import { ask, bodyFor, gist, modes, refusal } from "../ask.ts";
import { bearer, chatUrl, newClient, recordingFetch, rig, viaGateway } from "../client.ts";
import { until, untilRunning, untilWaiting } from "../crowd.ts";
import { endless, say } from "../say.ts";
import { enginePid } from "../server.ts";

const model = viaGateway ? "plain" : "tiny";

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("the engine is killed while it answers", () => {
  test("a stream ends in an error event without [DONE], all others in an error status", async () => {
    const streamed = recordingFetch(chatUrl("plain"), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: bearer },
      body: JSON.stringify({ ...bodyFor(model, endless), stream: true }),
    });
    const wire = streamed.then((response) => response.text());
    const whole = newClient("plain").chat.completions.create(bodyFor(model, endless));
    await untilRunning(rig.plainUrl, 2, Promise.race([wire, whole]));
    const queued = newClient("plain").chat.completions.create({ ...bodyFor(model, endless), stream: true });
    const settled = Promise.allSettled([
      wire,
      whole,
      queued.then(async (stream) => {
        for await (const _ of stream);
      }),
    ]);
    await untilWaiting(rig.plainUrl, 1, Promise.race([wire, whole]));
    expect((await streamed).status).toBe(200);

    const engine = enginePid(rig.plainPid);
    if (engine === undefined) throw new Error("the server has no engine process");
    process.kill(engine, "SIGKILL");
    const [stream, answer, waiting] = await settled;

    if (stream.status === "rejected") throw new Error(`the stream broke instead of ending: ${String(stream.reason)}`);
    const events = stream.value.trimEnd().split("\n\n");
    expect(events.length).toBeGreaterThan(2);
    if (viaGateway) {
      expect(stream.value).not.toContain("[DONE]");
      expect(JSON.parse(events.at(-1)?.slice("data: ".length) ?? "")).toEqual({
        error: {
          message: expect.stringMatching(/./),
          type: expect.stringMatching(/./),
          param: null,
          code: expect.stringMatching(/^upstream_/),
        },
      });
      expect(events.filter((event) => event.includes('"error"'))).toHaveLength(1);
      expect(stream.value).not.toMatch(/"finish_reason":"/);
    }
    for (const outcome of [answer, waiting]) {
      expect(outcome.status).toBe("rejected");
      const error: unknown = outcome.status === "rejected" ? outcome.reason : undefined;
      expect(error).toBeInstanceOf(APIError);
      if (!viaGateway) continue;
      expect((error as APIError).status).toBeGreaterThanOrEqual(500);
      expect((error as APIError).code).toMatch(/^upstream_/);
    }
  });

  test.runIf(viaGateway).each(modes)("then nobody listens there: %s", async (mode) => {
    await until("the server has ended", async () => !isAlive(rig.plainPid));
    const error = await refusal("plain", mode, say("Hi"));
    expect(error).toMatchObject({ status: 502, code: "upstream_unreachable" });
    expect(error.message).not.toMatch(/127\.0\.0\.1|\d{4}|ECONN/);
  });

  test.each(modes)("the other server is none the worse: %s", async (mode) => {
    expect(gist(await ask({ model: "tiny", mode }, say("Hi")))).toMatchObject([{ content: "Hi", finish: "stop" }]);
  });
});
