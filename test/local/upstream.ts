import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { isRecord } from "./sample-arguments.ts";
import { events, whole } from "./upstream-answer.ts";
import { localModels, type ChatRequest, type LocalModel, type Refusal } from "./upstream-models.ts";

export interface Upstream {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Requests that have come in and not ended yet. */
  readonly open: number;
  stop(): Promise<void>;
}

const pauseMs = 20;

/** An OpenAI-compatible server whose models (`localModels`) always answer the same to the same request. */
export async function startUpstream(options: { readonly port?: number } = {}): Promise<Upstream> {
  let open = 0;
  const server = createServer({ noDelay: true }, (request, response) => {
    open += 1;
    const left = new AbortController();
    response.once("close", () => {
      open -= 1;
      left.abort();
    });
    answer(request, response, left.signal).catch(() => response.destroy());
  });
  await new Promise<void>((settle, fail) => {
    server.once("error", fail);
    server.listen(options.port ?? 0, "127.0.0.1", settle);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get open(): number {
      return open;
    },
    async stop(): Promise<void> {
      const closed = new Promise((settle) => server.close(settle));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, left: AbortSignal): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://upstream");
  if (request.method === "GET" && pathname === "/v1/models") {
    return sendJson(response, 200, { object: "list", data: localModels.map(modelCard) });
  }
  if (request.method === "GET" && pathname.startsWith("/v1/models/")) {
    const name = decodeURIComponent(pathname.slice("/v1/models/".length));
    const model = localModels.find(({ id }) => id === name);
    return model === undefined ? refuse(response, unknownModel(name)) : sendJson(response, 200, modelCard(model));
  }
  if (request.method !== "POST" || pathname !== "/v1/chat/completions") {
    return refuse(response, invalid(404, `There is nothing at ${request.method} ${pathname}.`));
  }
  const body = await text(request);
  const chat = parseChat(body);
  if (chat === undefined) return refuse(response, invalid(400, "The body is no chat completion request."));
  const model = localModels.find(({ id }) => id === chat.model);
  if (model === undefined) return refuse(response, unknownModel(chat.model));
  const refusal = model.refuse?.(chat);
  if (refusal !== undefined || model.answer === undefined) return refuse(response, refusal ?? unknownModel(model.id));
  const id = `chatcmpl-${createHash("sha256").update(body).digest("hex").slice(0, 24)}`;
  if (chat["stream"] === true) await sendStream(response, model, events(id, chat, model.answer(chat)), left);
  else await sendWhole(response, model, whole(id, chat, model.answer(chat)), left);
}

async function sendStream(
  response: ServerResponse,
  model: LocalModel,
  chunks: readonly unknown[],
  left: AbortSignal,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  await wait(model.silentMs ?? 0, undefined, { signal: left });
  const middle = model.breaks === undefined ? chunks.length : Math.ceil(chunks.length / 2);
  for (const chunk of chunks.slice(0, middle)) {
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    await wait(pauseMs, undefined, { signal: left });
  }
  if (model.breaks === "stall") return;
  if (model.breaks === "cut") response.destroy();
  else response.end(`data: ${model.breaks === "error" ? JSON.stringify({ error: lateError.error }) : "[DONE]"}\n\n`);
}

async function sendWhole(
  response: ServerResponse,
  model: LocalModel,
  completion: unknown,
  left: AbortSignal,
): Promise<void> {
  await wait(model.silentMs ?? pauseMs, undefined, { signal: left });
  if (model.breaks === undefined) return sendJson(response, 200, completion);
  if (model.breaks === "error") return refuse(response, lateError);
  const json = Buffer.from(JSON.stringify(completion));
  response.writeHead(200, { "content-type": "application/json", "content-length": json.length });
  response.write(json.subarray(0, json.length / 2));
  await wait(pauseMs, undefined, { signal: left });
  if (model.breaks === "cut") response.destroy();
}

const lateError: Refusal = {
  status: 500,
  error: { message: "The engine failed in mid-answer.", type: "server_error", param: null, code: "engine_failed" },
};

function invalid(status: number, message: string): Refusal {
  return { status, error: { message, type: "invalid_request_error", param: null, code: null } };
}

function unknownModel(name: string): Refusal {
  const message = `The model \`${name}\` does not exist.`;
  return { status: 404, error: { message, type: "invalid_request_error", param: "model", code: "model_not_found" } };
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  sendJson(response, refusal.status, { error: refusal.error }, refusal.headers);
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

function modelCard({ id }: LocalModel): unknown {
  return { id, object: "model", created: 1_700_000_000, owned_by: "local" };
}

function parseChat(body: string): ChatRequest | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (!isRecord(value) || typeof value["model"] !== "string" || !Array.isArray(value["messages"])) return undefined;
    return { ...value, model: value["model"], messages: value["messages"].filter(isRecord) };
  } catch {
    return undefined;
  }
}
