import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FORMS, outcomeOf } from "./outcome.ts";
import { oneTenant, startRig, type Rig } from "./rig.ts";
import { always } from "./scripted-upstream.ts";
import {
  completion,
  done,
  event,
  finish,
  inChunk,
  lastChunk,
  refusal,
  response,
  role,
  says,
  streamHead,
  streamOf,
} from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => oneTenant(url) });
});
afterAll(() => rig.stop());

describe.concurrent.each(FORMS)("asked for %s", (_form, stream) => {
  test.each<[string, string | Uint8Array]>([
    ["text/plain", streamOf("hello").replace("text/event-stream", "text/plain")],
    ["application/json", streamOf("hello").replace("text/event-stream", "application/json")],
    ["none", streamOf("hello").replace("Content-Type: text/event-stream\r\n", "")],
    ["JSON under text/event-stream", response(200, completion("hello"), "", "text/event-stream")],
    ["JSON under text/html", response(200, completion("hello"), "", "text/html")],
    ["status 201", response(201, completion("hello"))],
    ["status 206", response(206, completion("hello"), "Content-Range: bytes 0-1/2\r\n")],
    ["early hints before it", `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${streamOf("hello")}`],
    ["100 Continue before it", `HTTP/1.1 100 Continue\r\n\r\n${response(200, completion("hello"))}`],
    ["gzip, whole", gzipped(completion("hello"), "application/json")],
    ["gzip, a stream", gzipped(role + says("hello") + finish + done, "text/event-stream")],
    [
      "HTTP/1.0 and an end by close",
      `HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${role}${says("hello")}${finish}${done}`,
    ],
    [
      "garbage behind [DONE]",
      streamHead() +
        inChunk(
          `${role + says("hello") + finish + done}data: {"error":{"message":"late"}}\n\nrubbish\n\n${says("more")}`,
        ) +
        lastChunk,
    ],
    [
      "a length that is too long, where events were asked for or not",
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n${role}${says("hello")}${finish}${done}`,
    ],
    ["no [DONE]", streamHead() + inChunk(role + says("hello") + finish) + lastChunk],
    ["a finish and then a broken frame", `${streamHead()}${inChunk(role + says("hello") + finish)}zz\r\n`],
    ["white space and a byte order mark before it", response(200, `\ufeff \r\n ${completion("hello")}`)],
    [
      "a long reason and odd headers",
      response(200, completion("hello"), `X-Odd: ${"o".repeat(8000)}\r\nSet-Cookie: a=b\r\n`),
    ],
  ])("an answer in the dress of %s is read for what it is", async (_dress, bytes) => {
    const told = await outcomeOf(rig, stream, async ({ put, socket }) => {
      await put(bytes);
      if (String(bytes).startsWith("HTTP/1.0")) socket.end();
    });
    expect(told).toEqual({ status: 200, text: "hello" });
  });

  test.each<[string, string, number, string]>([
    ["204", "HTTP/1.1 204 No Content\r\n\r\n", 502, "upstream_invalid"],
    ["200 and nothing", response(200, ""), 502, "upstream_invalid"],
    ["an empty stream", streamHead() + lastChunk, 502, "upstream_invalid"],
    ["a stream of [DONE] alone", streamHead() + inChunk(done) + lastChunk, 502, "upstream_invalid"],
    ["comments alone", streamHead() + inChunk(": hi\n\n: ho\n\n") + lastChunk, 502, "upstream_invalid"],
    ["a login page", response(200, "<html><body>Sign in</body></html>", "", "text/html"), 502, "upstream_invalid"],
    ["no object", response(200, "[1,2]"), 502, "upstream_invalid"],
    ["no choices", response(200, '{"id":"x","object":"chat.completion","choices":[]}'), 502, "upstream_invalid"],
    ["an event that is no JSON", streamHead() + inChunk("data: {broken\n\n") + lastChunk, 502, "upstream_invalid"],
    ["301", response(301, "", "Location: https://elsewhere.test/\r\n"), 502, "upstream_redirect"],
    ["307", response(307, "", "Location: https://elsewhere.test/\r\n"), 502, "upstream_redirect"],
    ["304", "HTTP/1.1 304 Not Modified\r\n\r\n", 502, "upstream_redirect"],
    ["401", response(401, refusal("Incorrect API key", "invalid_api_key")), 502, "upstream_unauthorized"],
    ["403", response(403, refusal("no")), 502, "upstream_unauthorized"],
    ["407", response(407, ""), 502, "upstream_failed"],
    ["500 in HTML", response(500, "<html><h1>500</h1></html>", "", "text/html"), 500, "upstream_failed"],
    ["502 of a proxy", response(502, "<html>bad gateway</html>", "", "text/html"), 502, "upstream_failed"],
    ["503 and nothing", response(503, "", "Retry-After: 7\r\n"), 503, "upstream_failed"],
    ["504", response(504, "upstream request timeout", "", "text/plain"), 504, "upstream_failed"],
    ["520", response(520, "error code: 520", "", "text/plain"), 502, "upstream_failed"],
    [
      "529",
      response(529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
      503,
      "upstream_failed",
    ],
    ["429", response(429, refusal("slow down"), "Retry-After: 7\r\n"), 429, "rate_limit_exceeded"],
    [
      "an error as the first event",
      streamHead() + inChunk(event({ error: { message: "too many", code: 429, type: "x" } }) + done) + lastChunk,
      429,
      "rate_limit_exceeded",
    ],
  ])("%s is an honest error", async (_what, bytes, status, code) => {
    expect(await outcomeOf(rig, stream, always(bytes))).toEqual({ status, code });
  });

  test("an error event behind the first words", async () => {
    const told = await outcomeOf(
      rig,
      stream,
      always(
        streamHead() +
          inChunk(
            role +
              says("half") +
              event({ error: { message: "CUDA error", type: "server_error", code: "engine_dead" } }) +
              done,
          ) +
          lastChunk,
      ),
    );
    expect(told).toEqual(
      stream ? { status: 200, text: "half", code: "engine_dead" } : { status: 502, code: "engine_dead" },
    );
  });
});

function gzipped(text: string, type: string): Uint8Array {
  const body = gzipSync(text);
  const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
