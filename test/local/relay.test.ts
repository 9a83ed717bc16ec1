import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { startRelay, type Relay } from "./relay.ts";

type Ending = "end" | "reset";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A raw server behind the relay: `answer` is called with each connection's first request. */
async function relayTo(answer: (socket: Socket) => void): Promise<{ relay: Relay; ending: Promise<Ending> }> {
  const { promise: ending, resolve } = Promise.withResolvers<Ending>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("data", () => answer(socket));
    socket.on("end", () => {
      resolve("end");
      socket.end();
    });
    socket.on("error", () => resolve("reset"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => server.close());
  const relay = await startRelay(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stops.push(() => relay.stop());
  return { relay, ending };
}

async function open(
  relay: Relay,
): Promise<{ socket: Socket; received: () => string; until: (text: string) => Promise<void> }> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(relay.url).port), allowHalfOpen: true });
  stops.push(() => socket.destroy());
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  await once(socket, "connect");
  const until = async (wanted: string): Promise<void> => {
    while (!text.includes(wanted)) await once(socket, "data");
  };
  return { socket, received: () => text, until };
}

const get = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

describe("a close becomes a reset while a response is owed", () => {
  test("before any byte of it", async () => {
    const asked = Promise.withResolvers<void>();
    const { relay, ending } = await relayTo(() => asked.resolve());
    const { socket } = await open(relay);
    socket.write(get);
    await asked.promise;
    socket.end();
    expect(await ending).toBe("reset");
  });

  test.each([
    ["in a chunked body", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", "abc"],
    ["in a body of known length", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", "abc"],
    ["in the head", "HTTP/1.1 200 OK\r\ncontent-le", "content-le"],
    ["after an interim response", "HTTP/1.1 100 Continue\r\n\r\n", "Continue"],
    ["in a body that ends with the connection", "HTTP/1.1 200 OK\r\n\r\nabc", "abc"],
  ])("%s", async (_, bytes, last) => {
    const { relay, ending } = await relayTo((socket) => socket.write(bytes));
    const { socket, until } = await open(relay);
    socket.write(get);
    await until(last);
    socket.end();
    expect(await ending).toBe("reset");
  });

  test("in the second response of a connection", async () => {
    let count = 0;
    const { relay, ending } = await relayTo((socket) => {
      socket.write(++count === 1 ? "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" : "HTTP/1.1 200 OK\r\n");
    });
    const { socket, until } = await open(relay);
    socket.write(get);
    await until("ok");
    socket.write(get);
    await until("ok" + "HTTP/1.1");
    socket.end();
    expect(await ending).toBe("reset");
  });
});

describe("a close stays a close when nothing is owed", () => {
  test("before any request", async () => {
    const { relay, ending } = await relayTo(() => undefined);
    const { socket } = await open(relay);
    socket.end();
    expect(await ending).toBe("end");
  });

  test.each([
    ["a body of known length", get, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde"],
    ["an empty body", get, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
    [
      "a chunked body",
      get,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n",
    ],
    ["trailers", get, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-sum: 1\r\n\r\n"],
    ["204", get, "HTTP/1.1 204 No Content\r\n\r\n"],
    ["HEAD", get.replace("GET", "HEAD"), "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n"],
    ["an interim response", get, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na"],
  ])("after %s, however it is cut", async (_, request, answer) => {
    const { relay, ending } = await relayTo(async (socket) => {
      socket.setNoDelay(true);
      for (const byte of answer) {
        socket.write(byte);
        await new Promise(setImmediate);
      }
    });
    const { socket, until } = await open(relay);
    socket.write(request);
    await until(answer);
    socket.end();
    expect(await ending).toBe("end");
  });

  test("a large answer arrives whole before the connection ends", async () => {
    const body = "x".repeat(8 * 1024 * 1024);
    const { relay } = await relayTo((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const { socket, received } = await open(relay);
    const ended = once(socket, "end");
    socket.write(get);
    await ended;
    expect(received().length).toBeGreaterThan(body.length);
    expect(received().endsWith(body.slice(0, 100))).toBe(true);
  });
});

test("a client's reset and an upstream's reset pass through", async () => {
  const first = await relayTo(() => undefined);
  const leaving = await open(first.relay);
  leaving.socket.write(get);
  leaving.socket.resetAndDestroy();
  expect(await first.ending).toBe("reset");

  const second = await relayTo((socket) => socket.resetAndDestroy());
  const cut = await open(second.relay);
  const failure = once(cut.socket, "error");
  cut.socket.write(get);
  expect(((await failure)[0] as NodeJS.ErrnoException).code).toBe("ECONNRESET");
});
