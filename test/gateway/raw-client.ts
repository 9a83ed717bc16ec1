import { connect, type Socket } from "node:net";
import { once } from "node:events";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A client of plain sockets: for requests that no HTTP library would send, and for ways to leave that none has. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything received so far. */
  received(): string;
  /** Waits until this text has come. */
  until(text: string): Promise<void>;
  /** The first answer, once it is whole. */
  answer(): Promise<RawAnswer>;
  /** An orderly close of both directions. */
  close(): void;
  reset(): void;
}

export async function openRaw(url: string, bytes?: string | Uint8Array): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.setMaxListeners(0);
  const parts: Buffer[] = [];
  let size = 0;
  let ended = false;
  socket.on("data", (part) => {
    parts.push(part);
    size += part.length;
  });
  socket.on("error", () => undefined);
  socket.on("close", () => (ended = true));
  await once(socket, "connect");
  if (bytes !== undefined) socket.write(bytes);
  const received = (): string => Buffer.concat(parts).toString("latin1");
  const waitFor = async <T>(look: () => T | undefined, what: string): Promise<T> => {
    const limit = Date.now() + 20_000;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (ended || Date.now() > limit) throw new Error(`${what} did not come; received: ${received().slice(-500)}`);
      await Promise.race([
        once(socket, "data"),
        once(socket, "close"),
        new Promise((settle) => setTimeout(settle, 500)),
      ]);
    }
  };
  return {
    socket,
    received,
    async until(text): Promise<void> {
      await waitFor(() => (received().includes(text) ? true : undefined), text);
    },
    answer: () =>
      waitFor(
        () => (mayBeWhole(parts, size) || ended ? parseAnswer(Buffer.concat(parts), ended) : undefined),
        "an answer",
      ),
    close: () => void socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** Looks at the last bytes only: putting a long answer together at every read would be quadratic. */
function mayBeWhole(parts: readonly Buffer[], size: number): boolean {
  const tail = Buffer.concat(parts.slice(-5)).subarray(-5).toString("latin1");
  return size < 1_000_000 || tail === "0\r\n\r\n";
}

function parseAnswer(bytes: Buffer, ended: boolean): RawAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [line = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers: Record<string, string> = {};
  for (const one of lines) {
    const name = one.slice(0, one.indexOf(":")).toLowerCase();
    const value = one.slice(one.indexOf(":") + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const rest = bytes.subarray(end + 4);
  const status = Number(line.split(" ")[1]);
  if (headers["transfer-encoding"] === "chunked") {
    const body = dechunked(rest);
    return body === undefined ? undefined : { status, headers, body };
  }
  const length = status === 204 || status === 304 ? "0" : headers["content-length"];
  if (length === undefined) return ended ? { status, headers, body: rest.toString() } : undefined;
  if (rest.length < Number(length)) return undefined;
  return { status, headers, body: rest.subarray(0, Number(length)).toString() };
}

function dechunked(bytes: Buffer): string | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16);
    if (size === 0) return Buffer.concat(parts).toString();
    if (bytes.length < line + 2 + size + 2) return undefined;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** The text of one request, as it goes over the wire. */
export function rawRequest(line: string, headers: readonly string[], body: string | Uint8Array = ""): Buffer {
  const bytes = Buffer.from(body);
  const framed = headers.some((header) => /^(?:content-length|transfer-encoding):/i.test(header));
  const length = framed ? [] : [`content-length: ${bytes.length}`];
  const head = [`${line} HTTP/1.1`, "host: gateway.test", ...headers, ...length].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), bytes]);
}
