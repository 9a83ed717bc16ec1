// The scripted upstream, read raw: what it writes, byte for byte, and how its connections end.
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "./cases.ts";
import { startMock, type Cut, type Mock, type Run } from "./mock.ts";

let mock: Mock;
beforeAll(async () => {
  mock = await startMock();
});
afterAll(() => mock.stop());

interface Raw {
  readonly run: Run;
  readonly reads: readonly Buffer[];
  readonly text: string;
  readonly ended: string;
}

/** Sends one request and reads until the connection ends, `until` was read, or nothing more has come for a while. */
async function raw(answer: Answer, cut?: Cut, until?: string): Promise<Raw> {
  const run: Run = { script: [answer], requests: [], writes: [], cut, released: new Promise(() => undefined) };
  mock.runs.set("raw", run);
  const socket = connect(mock.port, "127.0.0.1");
  const reads: Buffer[] = [];
  let ended = "open";
  const body = '{"model":"case-1-raw","stream":true}';
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await new Promise<void>((resolve) => {
    let quiet = setTimeout(resolve, 400);
    socket.on("data", (bytes) => {
      reads.push(bytes);
      clearTimeout(quiet);
      quiet = setTimeout(resolve, 400);
      if (until && Buffer.concat(reads).includes(until)) resolve();
    });
    socket.on("end", () => {
      ended = "fin";
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      ended = error.code ?? "";
    });
    socket.on("close", () => resolve());
  });
  const text = Buffer.concat(reads).toString("latin1");
  socket.destroy();
  await expect.poll(() => run.requests[0]?.closedAt !== undefined || ended !== "open" || !until).toBe(true);
  return { run, reads, text, ended };
}

test("every piece is a chunk and a read of its own", async () => {
  const { text, reads, ended, run } = await raw({
    body: ["data: a\r", "\n\r", ["\n", { base64: "/wCAww==" }, { latin1: "\u00e9" }], "\u2028"],
  });
  const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  const chunks = "8\r\ndata: a\r\r\n2\r\n\n\r\r\n6\r\n\n\xff\x00\x80\xc3\xe9\r\n3\r\n\xe2\x80\xa8\r\n0\r\n\r\n";
  expect(text).toBe(head + chunks);
  expect(reads.length).toBeGreaterThanOrEqual(5);
  expect(ended).toBe("open");
  expect(run.requests[0]).toMatchObject({ method: "POST", path: "/v1/chat/completions", json: { stream: true } });
});

test("status line, headers and length", async () => {
  const headers = { "X-A": ["1", "2"] };
  const { text } = await raw({ status: 521, reason: "Odd One", type: null, headers, text: "é", framing: "length" });
  expect(text).toBe("HTTP/1.1 521 Odd One\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 2\r\n\r\n\xc3\xa9");
});

test("ways to end", async () => {
  expect(await raw({ body: ["x"], framing: "close" })).toMatchObject({ ended: "fin" });
  expect(await raw({ body: ["abc"], end: "reset" })).toMatchObject({ ended: "ECONNRESET" });
  expect(await raw({ body: ["abc"], end: "open", hold: 100 })).toMatchObject({ ended: "ECONNRESET" });
  const cut = await raw({ body: ["abc"], end: "fin" });
  expect([cut.ended, cut.text.endsWith("3\r\nabc\r\n")]).toEqual(["fin", true]);
  expect(await raw({ head: false, body: [], end: "hang" })).toMatchObject({ ended: "open", text: "" });
});

test("a client that leaves stops the script", async () => {
  const { run } = await raw({ body: [{ times: 50, of: ["data: x\n\n", { wait: 20 }] }] }, undefined, "data: x");
  expect(run.requests[0]?.closedAt).toBeDefined();
  expect(run.writes.length).toBeLessThan(20);
});

test("other borders", async () => {
  expect((await raw({ body: ["abcd", "efgh"] }, 3)).text).toContain("3\r\nabc\r\n5\r\ndefgh\r\n");
  expect((await raw({ body: ["abcd"] }, "bytes")).text).toContain("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n");
});
