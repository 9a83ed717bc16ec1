import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, oneTenant, readEvents, startRig, type Rig } from "./rig.ts";
import { completion, done, finish, inChunk, refusal, response, role, says, streamHead, streamOf } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => oneTenant(url, { prefer: { prefer_stream: true } }) });
});
afterAll(() => rig.stop());

describe("the connection", () => {
  test.each([
    ["whole answers", "m/", false, response(200, completion("again"))],
    ["streams", "m/", true, streamOf("again")],
    ["refused streams", "m/", true, undefined],
    ["streams gathered for a JSON client", "prefer/", false, streamOf("again")],
  ])("is used again after %s", async (_what, prefix, stream, bytes) => {
    const model = rig.model(prefix);
    rig.upstream.answer(model, ({ put, asked }) =>
      put(
        bytes ??
          (asked.body.includes('"stream":true')
            ? response(400, refusal("stream must be false"))
            : response(200, completion("again"))),
      ),
    );
    for (let i = 0; i < 12; i++) {
      const answer = await rig.ask({ model, stream });
      expect(await answer.text()).toContain("again");
    }
    expect(new Set(rig.upstream.asked(model).map(({ connection }) => connection)).size).toBe(1);
  });

  test.each<[string, string]>([
    ["[DONE]", role + says("hello") + finish + done],
    ["a finish without [DONE]", role + says("hello") + finish],
  ])("that is held open behind %s is let go, and the client has its end before", async (_what, events) => {
    const model = rig.model("m/");
    rig.upstream.answer(model, async ({ put, wait, socket }) => {
      await put(streamHead() + inChunk(events));
      for (let open = true; open; await wait(100)) open = await put(inChunk(": and on\n\n"));
      socket.destroy();
    });
    const answer = await rig.ask({ model, stream: true });
    expect(readEvents(await answer.text())).toMatchObject({
      text: "hello",
      done: true,
      finishes: ["stop"],
      error: undefined,
    });
    await eventually("the upstream is let go", () => rig.upstream.held(model) === 0);
  });

  test("that the upstream closed between two requests is not the client's trouble", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(model, async ({ put, socket }) => {
      await put(response(200, completion("hello")));
      setTimeout(() => socket.end(), 30);
    });
    for (let i = 0; i < 4; i++) {
      expect((await rig.ask({ model })).status).toBe(200);
      await new Promise((settle) => setTimeout(settle, 100));
    }
  });
});
