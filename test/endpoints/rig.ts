import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { hashed, KEY } from "../gateway/rig.ts";
import { startGateway, type Gateway } from "../local/gateway.ts";

export { KEY } from "../gateway/rig.ts";

/** One request as the upstream saw it. */
export interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly json: Record<string, unknown>;
}

export type Answer = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void;

export interface Rig {
  readonly gateway: Gateway;
  readonly seen: Seen[];
  /** What the upstream does from now on. It is asked when a whole request has come, but for `early`. */
  answer(answer: Answer): void;
  /** The same at the first byte of a request. */
  early(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  client(options?: ConstructorParameters<typeof OpenAI>[0]): OpenAI;
  post(path: string, body: unknown, more?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** @param settings upstreams by name; the models that begin with the name and a slash go there */
export async function startRig(settings: Readonly<Record<string, object>> = {}, config: object = {}): Promise<Rig> {
  const seen: Seen[] = [];
  let answering: Answer = (_seen, response) => response.end();
  let early: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    if (early !== undefined) return early(request, response);
    const parts: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const isJson = request.headers["content-type"] === "application/json";
      const json = isJson ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
      const one = { path: request.url ?? "", headers: request.headers, body, json };
      seen.push(one);
      answering(one, response, request);
    });
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const upstreams: Record<string, object> = { plain: { base_url } };
  const routes: Record<string, object> = {
    "*": { targets: [{ upstream: "plain" }] },
    renamed: { targets: [{ upstream: "plain", model: "there" }] },
    alias: { targets: [{ upstream: "plain", model: "secret" }], report_model: "requested" },
  };
  for (const [name, own] of Object.entries(settings)) {
    upstreams[name] = { base_url, ...own };
    routes[`${name}/*`] = { targets: [{ upstream: name }] };
  }
  const gateway = await startGateway({
    relay: true,
    config: { upstreams, routes, tenants: { acme: { keys: [hashed(KEY)] } }, ...config },
  });
  return {
    gateway,
    seen,
    answer(answer): void {
      seen.length = 0;
      early = undefined;
      answering = answer;
    },
    early(answer): void {
      early = answer;
    },
    client: (options = {}) => new OpenAI({ apiKey: KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0, ...options }),
    post: (path, body, more = {}) =>
      fetch(`${gateway.url}${path}`, {
        method: "POST",
        ...more,
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...more.headers },
        body: (typeof body === "string" ? body : JSON.stringify(body)) as string,
      }),
    async stop(): Promise<void> {
      await gateway.stop();
      server.closeAllConnections();
      await new Promise((settle) => server.close(settle));
    },
  };
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

export const events = (response: ServerResponse, ...list: readonly unknown[]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of list) response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  response.end();
};

export async function envelopeOf(
  response: Response,
): Promise<{ status: number; code: string | null; param: string | null; message: string }> {
  const { error } = (await response.json()) as {
    error: { message: string; type: string; param: string | null; code: string | null };
  };
  if (Object.keys(error).sort().join() !== "code,message,param,type") throw new Error("no envelope");
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}
