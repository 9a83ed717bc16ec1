import { createServer, type AddressInfo, type Socket } from "node:net";

/** One request as it stood on the wire. */
export interface Asked {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Which connection it came over, counted from 1. */
  readonly connection: number;
}

/** One request and the socket it came over: a script says, byte by byte, what happens next. */
export interface Talk {
  readonly asked: Asked;
  readonly socket: Socket;
  readonly gone: Promise<void>;
  /** Writes bytes as they are and waits until they are taken. False: the other side has left. */
  put(bytes: string | Uint8Array): Promise<boolean>;
  /** Ends early when the other side leaves. */
  wait(ms: number): Promise<void>;
}

export type Script = (talk: Talk) => Promise<unknown> | void;

export interface ScriptedUpstream {
  readonly port: number;
  readonly baseUrl: string;
  /** The n-th request for this model name gets the n-th script, the last one repeats. */
  answer(model: string, ...scripts: Script[]): void;
  asked(model: string): readonly Asked[];
  /** Requests for this model whose connection is still open. */
  held(model: string): number;
  readonly connections: number;
  stop(): Promise<void>;
}

interface Entry {
  readonly scripts: readonly Script[];
  readonly asked: Asked[];
  readonly sockets: Set<Socket>;
}

/** Writes the same bytes to everybody and leaves the connection open for the next request. */
export const always =
  (bytes: string | Uint8Array): Script =>
  ({ put }) =>
    put(bytes);

/** A server of plain sockets, so that every byte of an answer and every way to break off is the script's. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const entries = new Map<string, Entry>();
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    const connection = ++connections;
    sockets.add(socket);
    const gone = new Promise<void>((settle) => socket.once("close", () => settle()));
    void gone.then(() => sockets.delete(socket));
    socket.on("error", () => undefined);
    let received = Buffer.alloc(0);
    let busy = false;
    const next = async (): Promise<void> => {
      const request = busy ? undefined : parse(received, connection);
      if (request === undefined) return;
      received = received.subarray(request.length);
      busy = true;
      const entry = entries.get(modelOf(request.asked.body));
      if (entry === undefined) {
        socket.resetAndDestroy();
        return;
      }
      entry.asked.push(request.asked);
      entry.sockets.add(socket);
      void gone.then(() => entry.sockets.delete(socket));
      const script = entry.scripts[Math.min(entry.asked.length, entry.scripts.length) - 1];
      await script?.({
        asked: request.asked,
        socket,
        gone,
        async put(bytes) {
          if (socket.destroyed) return false;
          if (!socket.write(bytes)) await Promise.race([gone, new Promise((settle) => socket.once("drain", settle))]);
          return !socket.destroyed;
        },
        async wait(ms) {
          let timer: NodeJS.Timeout | undefined;
          await Promise.race([gone, new Promise((settle) => (timer = setTimeout(settle, ms)))]);
          clearTimeout(timer);
        },
      });
      entry.sockets.delete(socket);
      busy = false;
      void next();
    };
    socket.on("data", (bytes) => {
      received = Buffer.concat([received, bytes]);
      void next();
    });
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    get connections(): number {
      return connections;
    },
    answer(model, ...scripts): void {
      entries.set(model, { scripts, asked: [], sockets: new Set() });
    },
    asked: (model) => entries.get(model)?.asked ?? [],
    held: (model) => entries.get(model)?.sockets.size ?? 0,
    async stop(): Promise<void> {
      const closed = new Promise((settle) => server.close(settle));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function parse(bytes: Buffer, connection: number): { asked: Asked; length: number } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [line = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers: Record<string, string> = {};
  for (const one of lines) {
    const colon = one.indexOf(":");
    headers[one.slice(0, colon).toLowerCase()] = one.slice(colon + 1).trim();
  }
  const length = end + 4 + Number(headers["content-length"] ?? 0);
  if (bytes.length < length) return undefined;
  return { asked: { line, headers, body: bytes.subarray(end + 4, length).toString(), connection }, length };
}

function modelOf(body: string): string {
  // Asked for its models, it resets the connection like any request without a script.
  if (body === "") return "";
  const { model } = JSON.parse(body) as { model?: unknown };
  return String(model);
}
