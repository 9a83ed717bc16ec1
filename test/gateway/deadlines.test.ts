import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorOf, oneTenant, readEvents, startRig, type Rig } from "./rig.ts";
import type { Script } from "./scripted-upstream.ts";
import {
  completion,
  done,
  event,
  finish,
  inChunk,
  jsonHead,
  refusal,
  response,
  role,
  says,
  streamHead,
} from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    relay: true,
    document: (url) =>
      oneTenant(url, {
        first: { first_event_ms: 500 },
        idle: { idle_ms: 500 },
        total: { total_ms: 600 },
        alive: { keep_alive_ms: 150 },
        "alive-first": { keep_alive_ms: 150, first_event_ms: 800 },
        "alive-idle": { keep_alive_ms: 150, idle_ms: 800 },
        "alive-total": { keep_alive_ms: 150, total_ms: 800 },
        "prefer-first": { prefer_stream: true, first_event_ms: 500 },
        "prefer-idle": { prefer_stream: true, idle_ms: 500, total_ms: 700 },
      }),
  });
});
afterAll(() => rig.stop());

const silent: Script = ({ gone }) => gone;
const comments: Script = async ({ put, wait }) => {
  for (let open = true; open; await wait(50)) open = await put(inChunk(": still here\n\n"));
};

const timedOut = { status: 504, type: "upstream_error", code: "upstream_timeout", param: null };

/** Asks a stream of an upstream that runs `script`, and sees the upstream let go. */
async function stream(prefix: string, ...scripts: Script[]): Promise<Response> {
  const model = rig.model(prefix);
  rig.upstream.answer(model, ...scripts);
  return rig.ask({ model, stream: true });
}

async function whole(prefix: string, ...scripts: Script[]): Promise<Response> {
  const model = rig.model(prefix);
  rig.upstream.answer(model, ...scripts);
  return rig.ask({ model });
}

describe.concurrent("first_event_ms", () => {
  test.each<[string, Script]>([
    ["no headers", silent],
    ["half of the headers", async ({ put, gone }) => (await put("HTTP/1.1 200 OK\r\nContent-Ty"), gone)],
    ["headers only", async ({ put, gone }) => (await put(streamHead()), gone)],
    ["half an event", async ({ put, gone }) => (await put(streamHead() + inChunk('data: {"id":"x","cho')), gone)],
    ["comments only", async (talk) => (await talk.put(streamHead()), comments(talk))],
    ["the role and no more", async ({ put, gone }) => (await put(streamHead() + inChunk(role)), gone)],
    [
      "endless roles",
      async ({ put, wait }) => {
        await put(streamHead());
        for (let open = true; open; await wait(20)) open = await put(inChunk(role));
      },
    ],
    [
      "endless events that say nothing",
      async ({ put, wait }) => {
        await put(streamHead());
        for (let open = true; open; await wait(20)) open = await put(inChunk(event({}) + event("null") + "\n\n"));
      },
    ],
    [
      "an event byte by byte that never ends",
      async ({ put, wait }) => {
        await put(streamHead() + inChunk("data: "));
        for (let open = true; open; await wait(20)) open = await put(inChunk(" "));
      },
    ],
  ])("a stream of %s is an HTTP 504", async (_what, script) => {
    expect(await errorOf(await stream("first/", script))).toMatchObject(timedOut);
  });

  test("holds for a JSON client of an upstream that streams", async () => {
    const answer = await whole(
      "prefer-first/",
      async (talk) => (await talk.put(streamHead() + inChunk(role)), comments(talk)),
    );
    expect(await errorOf(answer)).toMatchObject(timedOut);
  });

  test("does not count against a stream that has begun", async () => {
    const answer = await stream("first/", async ({ put, wait }) => {
      await put(streamHead() + inChunk(role + says("a")));
      await wait(900);
      await put(`${inChunk(says("b") + finish + done)}0\r\n\r\n`);
    });
    expect(readEvents(await answer.text())).toMatchObject({ text: "ab", done: true, error: undefined });
  });
});

describe.concurrent("an error that does not come to its end", () => {
  const half = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n${refusal("too hot")}`;
  const stalled: Script = async ({ put, gone }) => (await put(half), gone);

  test("is told as far as it has come, within the limit of what was asked", async () => {
    for (const answer of await Promise.all([stream("first/", stalled), whole("total/", stalled)]))
      expect(await errorOf(answer)).toMatchObject({ status: 400, message: "too hot" });
  });
});

describe.concurrent("idle_ms", () => {
  test.each<[string, Script]>([
    ["silence", silent],
    ["comments", comments],
    [
      "empty events",
      async ({ put, wait }) => {
        for (let open = true; open; await wait(50)) open = await put(inChunk(event({})));
      },
    ],
    ["half an event", async ({ put, gone }) => (await put(inChunk('data: {"id":')), gone)],
  ])("after the first words, %s ends a stream with one error event", async (_what, then) => {
    const answer = await stream("idle/", async (talk) => {
      await talk.put(streamHead() + inChunk(role + says("Hel") + says("lo")));
      await then(talk);
    });
    expect(answer.status).toBe(200);
    const read = readEvents(await answer.text());
    expect(read).toMatchObject({
      text: "Hello",
      done: false,
      behind: 0,
      finishes: [],
      error: { code: "upstream_timeout" },
    });
  });

  test("is about each silence, not about the whole stream", async () => {
    const answer = await stream("idle/", async ({ put, wait }) => {
      await put(streamHead() + inChunk(role));
      for (let i = 0; i < 8; i++) {
        await put(inChunk(says(`${i}`)));
        await wait(200);
      }
      await put(`${inChunk(finish + done)}0\r\n\r\n`);
    });
    expect(readEvents(await answer.text())).toMatchObject({ text: "01234567", done: true });
  });

  test("a JSON body that stops half way is a 504", async () => {
    const body = completion("never whole");
    const answer = await whole("idle/", async ({ put, gone }) => {
      await put(jsonHead(body.length) + body.slice(0, 40));
      await gone;
    });
    expect(await errorOf(answer)).toMatchObject(timedOut);
  });

  test("a JSON body for a stream client that stops half way is a 504", async () => {
    const body = completion("never whole");
    const answer = await stream("idle/", async ({ put, gone }) => {
      await put(jsonHead(body.length) + body.slice(0, 40));
      await gone;
    });
    expect(await errorOf(answer)).toMatchObject(timedOut);
  });

  test("an error body that never ends is given up, and still read", async () => {
    const text = refusal("temperature is too hot", null, "temperature");
    const answer = await whole("idle/", async ({ put, gone }) => {
      await put(
        `HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: ${text.length + 10}\r\n\r\n${text}`,
      );
      await gone;
    });
    expect(await errorOf(answer)).toMatchObject({
      status: 400,
      message: "temperature is too hot",
      param: "temperature",
    });
  });

  test("holds for a JSON client of an upstream that streams, where total_ms does not", async () => {
    const flowing = await whole("prefer-idle/", async ({ put, wait }) => {
      await put(streamHead() + inChunk(role));
      for (let i = 0; i < 6; i++) {
        await put(inChunk(says(`${i}`)));
        await wait(200);
      }
      await put(`${inChunk(finish + done)}0\r\n\r\n`);
    });
    expect(await flowing.json()).toMatchObject({ choices: [{ message: { content: "012345" } }] });
    const stalled = await whole("prefer-idle/", async ({ put, gone }) => {
      await put(streamHead() + inChunk(role + says("half")));
      await gone;
    });
    expect(await errorOf(stalled)).toMatchObject(timedOut);
  });
});

describe.concurrent("total_ms", () => {
  const dribble: Script = async ({ put, wait }) => {
    const body = completion("x".repeat(4000));
    await put(jsonHead(body.length));
    for (let i = 0, open = true; open && i < body.length; i++, await wait(10)) open = await put(body.slice(i, i + 1));
  };

  test.each<[string, Script]>([
    ["no headers", silent],
    ["headers only", async ({ put, gone }) => (await put(jsonHead(500)), gone)],
    ["bytes one by one", dribble],
    [
      "white space for ever",
      async ({ put, wait }) => {
        await put(jsonHead(100_000));
        for (let open = true; open; await wait(20)) open = await put(" ");
      },
    ],
  ])("a JSON answer of %s is a 504", async (_what, script) => {
    expect(await errorOf(await whole("total/", script))).toMatchObject(timedOut);
  });

  test("holds for the JSON answer that stands in for a refused stream", async () => {
    const answer = await stream("total/", ({ put }) => put(response(400, refusal("streaming not supported"))), dribble);
    expect(await errorOf(answer)).toMatchObject(timedOut);
  });
});

describe.concurrent("keep_alive_ms", () => {
  test("covers the silence before an upstream's headers, and those between events", async () => {
    const answer = await stream("alive/", async ({ put, wait }) => {
      await wait(700);
      await put(streamHead() + inChunk(role));
      await wait(500);
      await put(inChunk(says("a")));
      await wait(700);
      await put(`${inChunk(says("b") + finish + done)}0\r\n\r\n`);
    });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const body = await answer.text();
    const [before = "", between = ""] = body.split(/data: [^\n]*"(?:a|b)"[^\n]*\n\n/);
    expect(before.split(": keep-alive\n\n").length - 1).toBeGreaterThanOrEqual(4);
    expect(between.split(": keep-alive\n\n").length - 1).toBeGreaterThanOrEqual(2);
    expect(readEvents(body)).toMatchObject({ text: "ab", done: true, error: undefined });
  });

  test("is silent while events flow", async () => {
    const answer = await stream("alive/", async ({ put, wait }) => {
      await put(streamHead() + inChunk(role + says("0")));
      for (let i = 0; i < 40; i++) {
        await wait(5);
        await put(inChunk(says("0")));
      }
      await put(`${inChunk(finish + done)}0\r\n\r\n`);
    });
    expect(readEvents(await answer.text())).toMatchObject({ text: "0".repeat(41), done: true });
  });

  test("an upstream's own comments do not leave and do not stand in for it", async () => {
    const answer = await stream("alive/", async ({ put, wait }) => {
      await put(streamHead() + inChunk(role + says("a")));
      for (let i = 0; i < 14; i++) {
        await wait(50);
        await put(inChunk(": upstream comment\n\n"));
      }
      await put(`${inChunk(finish + done)}0\r\n\r\n`);
    });
    const body = await answer.text();
    expect(body).not.toContain("upstream comment");
    expect(readEvents(body).comments).toBeGreaterThanOrEqual(2);
  });

  test("goes on while a refused stream is asked for again as JSON", async () => {
    const answer = await stream(
      "alive/",
      async ({ put, wait }) => (await wait(400), put(response(400, refusal("stream must be false")))),
      async ({ put, wait }) => (await wait(500), put(response(200, completion("late but whole")))),
    );
    const read = readEvents(await answer.text());
    expect(read).toMatchObject({ text: "late but whole", done: true, error: undefined });
    expect(read.comments).toBeGreaterThanOrEqual(4);
  });

  test.each<[string, string, Script, string]>([
    ["first_event_ms", "alive-first/", silent, "upstream_timeout"],
    [
      "first_event_ms, with headers",
      "alive-first/",
      async ({ put, gone }) => (await put(streamHead()), gone),
      "upstream_timeout",
    ],
    [
      "idle_ms",
      "alive-idle/",
      async ({ put, wait, gone }) => (await wait(300), await put(streamHead() + inChunk(role + says("x"))), gone),
      "upstream_timeout",
    ],
    [
      "an HTTP error",
      "alive/",
      async ({ put, wait }) => (await wait(400), put(response(429, refusal("slow down", "rate_limit_exceeded")))),
      "rate_limit_exceeded",
    ],
    [
      "a reset",
      "alive/",
      async ({ socket, wait }) => (await wait(400), void socket.resetAndDestroy()),
      "upstream_unreachable",
    ],
    [
      "a reset after the headers",
      "alive/",
      async ({ put, socket, wait }) => (await put(streamHead()), await wait(400), void socket.resetAndDestroy()),
      "upstream_cut",
    ],
    [
      "an error event",
      "alive/",
      async ({ put, wait }) => (
        await wait(400),
        put(`${streamHead()}${inChunk(event(refusal("out of memory", "oom")))}0\r\n\r\n`)
      ),
      "oom",
    ],
  ])("%s after the first comment is one error event", async (_what, prefix, script, code) => {
    const answer = await stream(prefix, script);
    expect(answer.status).toBe(200);
    const read = readEvents(await answer.text());
    expect(read.comments).toBeGreaterThanOrEqual(1);
    expect(read).toMatchObject({ done: false, behind: 0, finishes: [], error: { code } });
    expect(Object.keys(read.error ?? {}).sort()).toEqual(["code", "message", "param", "type"]);
  });

  test("total_ms after the first comment is one error event", async () => {
    const answer = await stream(
      "alive-total/",
      ({ put }) => put(response(400, refusal("streaming not supported"))),
      silent,
    );
    const read = readEvents(await answer.text());
    expect(read).toMatchObject({ done: false, behind: 0, error: { code: "upstream_timeout" } });
  });
});
