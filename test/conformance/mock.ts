// The scripted upstream: a raw socket server that answers with scripted bytes and records every request.
import { STATUS_CODES } from "node:http";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Answer } from "./cases.ts";
import { at } from "./json.ts";
import { parseRequest, type SeenRequest } from "./mock-request.ts";
import { chop, contentOf, joined, writesOf, type Write } from "./script.ts";

/** Where `--splits` cuts the bodies: in two behind byte n, or at every byte. */
export type Cut = number | "bytes" | undefined;

/** One step of a case at the mock: its script, and what happened. */
export interface Run {
  readonly script: readonly Answer[];
  readonly requests: SeenRequest[];
  /** Times of the body's writes. */
  readonly writes: number[];
  readonly cut: Cut;
  /** Ends whatever is still held open. */
  readonly released: Promise<void>;
  next?: number;
}

export interface Mock {
  readonly port: number;
  readonly runs: Map<string, Run>;
  stop(): Promise<void>;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function fits({ when }: Answer, json: unknown): boolean {
  if (when?.has !== undefined && at(json, when.has) === undefined) return false;
  if (when?.lacks !== undefined && at(json, when.lacks) !== undefined) return false;
  return when?.stream === undefined || (at(json, "stream") === true) === when.stream;
}

/** The n-th request gets the n-th answer, the last one repeats; answers that do not fit the request are passed over. */
function nextAnswer(run: Run, json: unknown): Answer {
  const last = run.script.length - 1;
  let n = Math.min(run.next ?? 0, last);
  while (n < last && !fits(run.script[n] ?? {}, json)) n++;
  run.next = n + 1;
  return run.script[n] ?? {};
}

const MEDIA_TYPES: Readonly<Record<string, string>> = { sse: "text/event-stream", json: "application/json" };

function headOf(answer: Answer, type: string | null, writes: readonly Write[]): { head: string; framing: string } {
  const status = answer.status ?? 200;
  const lines = [`HTTP/1.1 ${status} ${answer.reason ?? STATUS_CODES[status] ?? ""}`];
  if (type) lines.push(`Content-Type: ${MEDIA_TYPES[type] ?? type}`);
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    for (const one of [value].flat()) lines.push(`${name}: ${one}`);
  }
  const own = lines.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const chunked = type === "sse" || answer.body !== undefined || answer.end !== undefined;
  const framing = own ? "none" : (answer.framing ?? (chunked ? "chunked" : "length"));
  if (framing === "chunked") lines.push("Transfer-Encoding: chunked");
  if (framing === "length") lines.push(`Content-Length: ${joined(writes).length}`);
  if (framing === "close") lines.push("Connection: close");
  return { head: `${lines.join("\r\n")}\r\n\r\n`, framing };
}

/** The same bytes with other borders. */
function recut(writes: readonly Write[], cut: Cut): readonly Write[] {
  if (cut === undefined) return writes;
  const all = joined(writes);
  if (cut === "bytes") return chop(all, 1);
  const place = 1 + ((cut - 1) % Math.max(1, all.length - 1));
  return [all.subarray(0, place), all.subarray(place)];
}

const inChunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

/** Writes one scripted answer; stops early when the other side closes the connection. */
async function respond(socket: Socket, closed: Promise<void>, request: SeenRequest, run: Run): Promise<void> {
  const answer = nextAnswer(run, request.json);
  const { list, type } = contentOf(answer, request);
  let open = true;
  void closed.then(() => {
    if (open) request.closedAt = Date.now();
    open = false;
  });
  const put = async (bytes: string | Buffer): Promise<void> => {
    if (!open || socket.write(bytes)) return;
    await Promise.race([closed, new Promise((resolve) => socket.once("drain", resolve))]);
  };
  const hold = (ms: number): Promise<void> => Promise.race([closed, run.released, sleep(ms)]);

  const writes = recut(writesOf(list), run.cut).filter((write) => !Buffer.isBuffer(write) || write.length > 0);
  const { head, framing } = headOf(answer, answer.type === undefined ? type : answer.type, writes);
  if (answer.delay) await hold(answer.delay);
  if (answer.head !== false) {
    await put(head);
    for (const write of writes) {
      if (!Buffer.isBuffer(write)) {
        await hold(write.wait);
        continue;
      }
      await sleep(run.cut === undefined ? 2 : 1); // makes the border between two reads real
      if (!open) return;
      run.writes.push(Date.now());
      await put(framing === "chunked" ? inChunk(write) : write);
    }
  }
  if (answer.end === "hang" || answer.end === "open") await hold(answer.hold ?? 6000);
  else if (answer.end) await sleep(20); // lets the bytes arrive before the connection breaks
  if (!open) return;
  if (!answer.end && framing === "chunked") await put("0\r\n\r\n");
  open = false;
  if (answer.end === "fin" || framing === "close") socket.end();
  else if (answer.end) socket.resetAndDestroy();
}

export function startMock(port = 0): Promise<Mock> {
  const runs = new Map<string, Run>();
  const sockets = new Set<Socket>();

  /** The tag in the model name finds the run. */
  const runOf = (request: SeenRequest): Run | undefined => {
    const text = `${request.path} ${request.body.toString("latin1")}`;
    return runs.get(/case-[a-z]*\d+[a-z]*-([a-z0-9]+)/.exec(text)?.[1] ?? "");
  };

  const server = createServer({ noDelay: true }, (socket) => {
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    let waiting: Buffer[] = [];
    let busy = false;
    const next = async (): Promise<void> => {
      if (busy || !waiting.length) return;
      const all = Buffer.concat(waiting);
      const parsed = parseRequest(all);
      waiting = [parsed ? parsed.rest : all];
      if (!parsed) return;
      busy = true;
      const run = runOf(parsed.request);
      run?.requests.push(parsed.request);
      if (run) await respond(socket, closed, parsed.request, run);
      else socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
      busy = false;
      if (!socket.destroyed && waiting[0]?.length) await next();
    };
    sockets.add(socket);
    socket.on("data", (bytes) => {
      waiting.push(bytes);
      void next();
    });
    // A client that leaves by reset is part of the cases.
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });

  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => {
      resolve({ runs, stop, port: (server.address() as AddressInfo).port });
    });
  });
}
