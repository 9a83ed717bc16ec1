import OpenAI from "openai";
import { afterEach } from "vitest";
import { readCompletion, readErrorBody, readStream, type Problem } from "../conformance/strict.ts";
import { gatewayKey, serverKey } from "./config.ts";
import { rigFromEnvironment } from "./rig.ts";

export const rig = rigFromEnvironment();
export const viaGateway = rig.gatewayUrl !== undefined;

/** What the network brought for one request. */
export interface Exchange {
  readonly path: string;
  readonly requestBody: string;
  readonly response: Response;
  readonly bytes: Uint8Array[];
  /** Whether the body came to its end: what a leaving client missed is not judged. */
  readonly ended: Promise<boolean>;
}

const exchanges: Exchange[] = [];

export async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const { pathname: path } = new URL(input instanceof Request ? input.url : input);
  // Read apart from the client, which stops at `[DONE]` or at an error: what comes after it counts too.
  const [theirs, ours] = response.body?.tee() ?? [null, null];
  const bytes: Uint8Array[] = [];
  exchanges.push({ path, requestBody: String(init?.body), response, bytes, ended: readAll(ours, bytes) });
  return new Response(theirs, { status: response.status, headers: response.headers });
}

async function readAll(body: ReadableStream<Uint8Array> | null, bytes: Uint8Array[]): Promise<boolean> {
  try {
    for await (const piece of body ?? []) bytes.push(piece);
    return true;
  } catch {
    return false;
  }
}

export const bearer = `Bearer ${viaGateway ? gatewayKey : serverKey}`;

export type Server = "parsers" | "plain" | "pooling";

const servers: Readonly<Record<Server, string>> = {
  parsers: rig.parsersUrl,
  plain: rig.plainUrl,
  pooling: rig.poolingUrl,
};

/** Which server is behind a name that the suite asks for. */
export function serverOf(model: string): Server {
  if (/^(?:plain|read|templated)/.test(model)) return "plain";
  return model.startsWith("embed") ? "pooling" : "parsers";
}

/** `server` matters to `--direct` alone: the gateway goes by the model's name. */
export function chatUrl(server: Server): URL {
  return new URL(`${baseUrl(server)}/chat/completions`);
}

function baseUrl(server: Server): string {
  return `${rig.gatewayUrl ?? servers[server]}/v1`;
}

/** The official client, its bytes recorded. */
export function newClient(server: Server = "parsers", fetcher: typeof fetch = recordingFetch): OpenAI {
  const apiKey = viaGateway ? gatewayKey : serverKey;
  return new OpenAI({ baseURL: baseUrl(server), apiKey, maxRetries: 0, fetch: fetcher });
}

function lastExchange(): Exchange {
  const last = exchanges.at(-1);
  if (last === undefined) throw new Error("nothing was asked yet");
  return last;
}

export function lastHeaders(): Headers {
  return lastExchange().response.headers;
}

/** All that the last answer brought. */
export async function lastText(): Promise<string> {
  const last = lastExchange();
  await last.ended;
  return textOf(last);
}

function textOf({ bytes }: Exchange): string {
  return Buffer.concat(bytes).toString("utf8");
}

/** Sends a body past the client library, and waits for all that comes. */
export async function askRaw(server: Server, body: object): Promise<Response> {
  const response = await post(chatUrl(server), body);
  await lastExchange().ended;
  return response;
}

/** Asks for a path that the client library does not know, `/v1` included. */
export async function askPath(server: Server, path: string, body: object): Promise<Response> {
  return post(new URL(path, baseUrl(server)), body);
}

async function post(url: URL, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: bearer };
  return recordingFetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** What the server itself answers, the gateway left out. */
export async function ownAnswer(server: Server, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${serverKey}` };
  return fetch(servers[server] + path, { method: "POST", headers, body: JSON.stringify(body) });
}

// Every answer of every test is held against the strict rules, whatever else the test looks at.
afterEach(async () => {
  const faults: string[] = [];
  for (const exchange of exchanges.splice(0)) {
    if (!(await exchange.ended) || !viaGateway) continue;
    for (const { rule, message } of problemsOf(exchange)) {
      faults.push(`${rule}: ${message}\n  sent ${exchange.requestBody}\n  got ${textOf(exchange)}`);
    }
  }
  if (faults.length > 0) throw new Error(`the answer breaks a rule:\n${faults.join("\n")}`);
});

function problemsOf({ path, requestBody, response, bytes }: Exchange): readonly Problem[] {
  const body = Buffer.concat(bytes);
  if (response.status !== 200) return readErrorBody(body).problems;
  // Of the other endpoints there is no rule but that their errors are errors.
  if (!path.endsWith("/completions")) return [];
  const legacy = !path.endsWith("/chat/completions");
  const asked = JSON.parse(requestBody) as { stream?: boolean; stream_options?: { include_usage?: boolean } };
  const asksStream = asked.stream === true;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (asksStream !== isStream)
    return [{ rule: "content-type", message: response.headers.get("content-type") ?? "none" }];
  return isStream
    ? readStream(body, { legacy, includeUsage: asked.stream_options?.include_usage === true }).problems
    : readCompletion(body, { legacy }).problems;
}
