// The load client: one keep-alive socket and the least of HTTP/1.1, so that the client is not what is measured.
import { connect, type Socket } from "node:net";

const END_OF_CHUNKED = Buffer.from("0\r\n\r\n");
const END_OF_HEAD = Buffer.from("\r\n\r\n");

export interface Exchange {
  readonly status: number;
  /** From the last byte of the request to the last byte of the answer. */
  readonly ms: number;
}

export interface ExchangeWatcher {
  /** Bytes as they come, head and chunk framing included; valid only during the call. */
  bytes(bytes: Buffer): void;
}

interface Pending {
  readonly startedAt: number;
  readonly watcher: ExchangeWatcher | undefined;
  readonly resolve: (exchange: Exchange) => void;
  readonly reject: (reason: Error) => void;
}

export class Connection {
  readonly #socket: Socket;
  #pending: Pending | undefined;
  #head: Buffer | undefined;
  #status = 0;
  /** Bytes of the body to come, or undefined when it is chunked. */
  #missing: number | undefined;
  readonly #tail = Buffer.alloc(END_OF_CHUNKED.length);

  private constructor(port: number, opened: (connection: Connection) => void, failed: (reason: Error) => void) {
    const onread = {
      // One buffer for the whole life of the socket; an allocation per read would show in every short exchange.
      buffer: Buffer.alloc(65536),
      callback: (length: number, buffer: Uint8Array): boolean => {
        this.#receive(buffer.subarray(0, length) as Buffer);
        return true;
      },
    };
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true, onread }, () => opened(this));
    this.#socket.on("error", (reason) => {
      failed(reason);
      this.#fail(reason);
    });
    this.#socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => new Connection(port, resolve, reject));
  }

  exchange(request: Buffer, watcher?: ExchangeWatcher): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      this.#head = Buffer.alloc(0);
      this.#tail.fill(0);
      this.#socket.write(request);
      this.#pending = { startedAt: performance.now(), watcher, resolve, reject };
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }

  #receive(bytes: Buffer): void {
    this.#pending?.watcher?.bytes(bytes);
    let body = bytes;
    if (this.#head) {
      const head: Buffer = this.#head.length > 0 ? Buffer.concat([this.#head, bytes]) : bytes;
      const end = head.indexOf(END_OF_HEAD);
      if (end < 0) {
        this.#head = Buffer.from(head);
        return;
      }
      this.#readHead(head.toString("latin1", 0, end));
      body = head.subarray(end + END_OF_HEAD.length);
      this.#head = undefined;
    }
    if (this.#missing !== undefined) {
      this.#missing -= body.length;
      if (this.#missing <= 0) this.#finish();
      return;
    }
    this.#keepTail(body);
    // No event begins with a line end, so these five bytes are nowhere but behind the last chunk.
    if (this.#tail.equals(END_OF_CHUNKED)) this.#finish();
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#missing = length === undefined ? undefined : Number(length);
  }

  #keepTail(body: Buffer): void {
    const kept = this.#tail.length;
    if (body.length >= kept) {
      body.copy(this.#tail, 0, body.length - kept);
      return;
    }
    this.#tail.copyWithin(0, body.length);
    body.copy(this.#tail, kept - body.length);
  }

  #finish(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status: this.#status, ms: performance.now() - pending.startedAt });
  }

  #fail(reason: Error): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(reason);
  }
}

/** Everything a Worker answers, chunk framing removed: for the check that comes before every measurement. */
export async function wholeAnswer(port: number, request: Buffer): Promise<{ status: number; body: string }> {
  const connection = await Connection.open(port);
  const pieces: Buffer[] = [];
  const { status } = await connection.exchange(request, { bytes: (bytes) => void pieces.push(Buffer.from(bytes)) });
  connection.close();
  const raw = Buffer.concat(pieces);
  const head = raw.indexOf(END_OF_HEAD) + END_OF_HEAD.length;
  const chunked = /\r\ntransfer-encoding: *chunked/i.test(raw.toString("latin1", 0, head));
  return { status, body: (chunked ? withoutChunks(raw.subarray(head)) : raw.subarray(head)).toString("utf8") };
}

function withoutChunks(raw: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const line = raw.indexOf("\r\n", at);
    const size = Number.parseInt(raw.toString("latin1", at, line), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(raw.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
