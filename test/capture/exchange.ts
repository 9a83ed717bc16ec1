import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

export interface Sent {
  readonly method: string;
  readonly path: string;
  /** Null: a header that is usually sent is left out. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  /** Instead of `body`, where it shall not be JSON. */
  readonly rawBody?: string;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrived, chunk by chunk; a character that was cut belongs to the later piece. */
  readonly pieces: readonly string[];
  /** Why the body is not whole; absent if it is. */
  readonly broken?: string;
}

// What a gateway may look at. The others tell of the machine that was asked.
const kept = [
  "content-type",
  "content-encoding",
  "allow",
  "access-control-allow-origin",
  "location",
  "retry-after",
  "www-authenticate",
  "x-accel-buffering",
  "x-request-id",
];
const limitMs = 120_000;

/** Sends one request on a connection of its own, and gives what came back, undecoded but for the framing of HTTP. */
export async function exchange(base: URL, { method, path, headers, body, rawBody }: Sent): Promise<Received> {
  const bytes = Buffer.from(rawBody ?? (body === undefined ? "" : JSON.stringify(body)));
  const all: Record<string, string | number | null> = {
    "accept-encoding": "identity",
    connection: "close",
    ...(method === "POST" ? { "content-type": "application/json", "content-length": bytes.length } : {}),
    ...headers,
  };
  const send = base.protocol === "https:" ? httpsRequest : httpRequest;
  const signal = AbortSignal.timeout(limitMs);
  return new Promise((settle, fail) => {
    const request = send(urlOf(base, path), { method, headers: present(all), signal, agent: false });
    let reading = false;
    request.on("response", (response) => {
      reading = true;
      readAll(response).then(settle, fail);
    });
    request.on("error", (error) => {
      // What breaks off after the headers is told by the body.
      if (!reading) fail(error);
    });
    request.end(bytes);
  });
}

/** Requests name paths as OpenAI has them; a base URL with a path of its own stands for their `/v1`. */
export function urlOf(base: URL, path: string): URL {
  const prefix = base.pathname.replace(/\/+$/, "");
  const below = path.startsWith("/v1/") ? prefix + path.slice("/v1".length) : prefix.replace(/\/v1$/, "") + path;
  return new URL(base.origin + (prefix === "" ? path : below) + base.search);
}

const present = (headers: Readonly<Record<string, string | number | null>>): Record<string, string | number> =>
  Object.fromEntries(Object.entries(headers).filter((one): one is [string, string | number] => one[1] !== null));

async function readAll(response: IncomingMessage): Promise<Received> {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  let broken: string | undefined;
  try {
    for await (const bytes of response) pieces.push(utf8.decode(bytes as Buffer, { stream: true }));
  } catch (error) {
    broken = error instanceof Error ? error.message : String(error);
  }
  const rest = utf8.decode();
  if (rest !== "") pieces.push(rest);
  const headers = kept.flatMap((name) => {
    const value = response.headers[name];
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  const status = response.statusCode ?? 0;
  return { status, headers: Object.fromEntries(headers), pieces, ...(broken === undefined ? {} : { broken }) };
}
