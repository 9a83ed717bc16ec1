// The strict client's transport: one request, and the answer as raw bytes with the arrival time of every read.
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

export interface Sending {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  readonly abort?: { readonly afterData?: number; readonly afterMs?: number } | undefined;
  readonly timeout: number;
}

export interface Received {
  /** 0: there was no answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
  /** Bytes received so far, and when. */
  readonly marks: readonly (readonly [size: number, time: number])[];
  readonly body: Buffer;
  /** Why the answer did not end in an orderly way. */
  readonly error: string | undefined;
  /** The request went over a connection that had been used before. */
  readonly reused: boolean;
  readonly ms: number;
}

const agent = new Agent({ keepAlive: true });

/** Never rejects. */
export function send(url: URL, { method, headers, body, abort, timeout }: Sending): Promise<Received> {
  return new Promise((resolve) => {
    const began = Date.now();
    const parts: Buffer[] = [];
    const marks: [number, number][] = [];
    let incoming: IncomingMessage | undefined;
    let size = 0;
    let events = 0;
    let over = false;
    const outgoing = request(url, { method, headers, agent });
    const finish = (error?: string): void => {
      if (over) return;
      over = true;
      clearTimeout(limit);
      clearTimeout(leave);
      if (error !== undefined) outgoing.destroy();
      resolve({
        status: incoming?.statusCode ?? 0,
        headers: incoming?.headers ?? {},
        rawHeaders: incoming?.rawHeaders ?? [],
        marks,
        body: Buffer.concat(parts),
        error,
        reused: outgoing.reusedSocket,
        ms: Date.now() - began,
      });
    };
    const limit = setTimeout(() => finish(`nothing more within ${timeout} ms`), timeout);
    const leave = abort?.afterMs ? setTimeout(() => finish("aborted"), abort.afterMs) : undefined;
    outgoing.on("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    outgoing.on("response", (response) => {
      incoming = response;
      response.on("data", (bytes: Buffer) => {
        parts.push(bytes);
        marks.push([(size += bytes.length), Date.now()]);
        events += bytes.toString("latin1").split("data: ").length - 1;
        if (abort?.afterData && events >= abort.afterData) finish("aborted");
      });
      response.on("end", () => finish(response.complete ? undefined : "cut"));
      response.on("error", () => finish("cut")).on("close", () => finish("cut"));
    });
    outgoing.end(body);
  });
}

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Undoes a content coding, if the client has asked for one. */
export function decoded(received: Received, asked: boolean): Received {
  const decode = DECODERS[String(received.headers["content-encoding"])];
  if (!asked || received.error !== undefined || !decode) return received;
  return { ...received, body: decode(received.body) };
}
