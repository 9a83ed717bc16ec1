import { createHash } from "node:crypto";
import { startGateway, type Gateway, type GatewayOptions } from "../local/gateway.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";

export const KEY = "sk-rig-client-key-1";
export const hashed = (key: string): string => `sha256:${createHash("sha256").update(key).digest("hex")}`;

export interface Rig {
  readonly gateway: Gateway;
  readonly upstream: ScriptedUpstream;
  /** A model name of its own under this prefix, so that tests do not see each other's requests. */
  model(prefix: string): string;
  /** One chat request. What is not said is well-formed and whole. */
  ask(body: Readonly<Record<string, unknown>>, more?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

export interface RigOptions extends Omit<GatewayOptions, "config"> {
  /** The document, made for the upstream that the rig has started. */
  readonly document: (baseUrl: string) => object;
}

export const messages = [{ role: "user", content: "hello" }];

export async function startRig({ document, ...options }: RigOptions): Promise<Rig> {
  const upstream = await startScriptedUpstream();
  try {
    const gateway = await startGateway({ ...options, config: document(upstream.baseUrl) });
    let count = 0;
    return {
      gateway,
      upstream,
      model: (prefix) => `${prefix}${++count}`,
      ask: (body, more = {}) =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          ...more,
          headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...more.headers },
          body: more.body ?? JSON.stringify({ messages, ...body }),
        }),
      async stop(): Promise<void> {
        await gateway.stop();
        await upstream.stop();
      },
    };
  } catch (error) {
    await upstream.stop();
    throw error;
  }
}

/** One upstream and one tenant; a model name's prefix picks the settings under which it is asked. */
export function oneTenant(baseUrl: string, settings: Readonly<Record<string, object>> = {}): object {
  const routes: Record<string, object> = { "*": { targets: [{ upstream: "plain" }] } };
  const upstreams: Record<string, object> = { plain: { base_url: baseUrl } };
  for (const [prefix, own] of Object.entries(settings)) {
    upstreams[prefix] = { base_url: baseUrl, ...own };
    routes[`${prefix}/*`] = { targets: [{ upstream: prefix }] };
  }
  return { upstreams, routes, tenants: { acme: { keys: [hashed(KEY)] } } };
}

/** For what takes a moment on a loaded machine. */
export async function eventually(what: string, holds: () => boolean, limitMs = 10_000): Promise<void> {
  for (const limit = Date.now() + limitMs; !holds(); await new Promise((settle) => setTimeout(settle, 5))) {
    if (Date.now() > limit) throw new Error(`did not come to pass: ${what}`);
  }
}

export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

export async function errorOf(response: Response): Promise<ErrorEnvelope["error"] & { readonly status: number }> {
  const text = await response.text();
  const { error } = JSON.parse(text) as ErrorEnvelope;
  return { status: response.status, ...error };
}

/** What a client read of a stream. */
export interface StreamRead {
  readonly comments: number;
  readonly text: string;
  readonly finishes: readonly string[];
  readonly error: ErrorEnvelope["error"] | undefined;
  readonly done: boolean;
  /** How many events there were behind the error or `[DONE]`. */
  readonly behind: number;
}

interface ReadChunk extends Partial<ErrorEnvelope> {
  readonly choices?: { readonly delta: { readonly content?: string | null }; readonly finish_reason: string | null }[];
}

export function readEvents(body: string): StreamRead {
  const blocks = body.split("\n\n");
  const rest = blocks.pop();
  if (rest !== "") throw new Error(`the stream ends inside an event: ${rest}`);
  let comments = 0;
  let text = "";
  let error: ErrorEnvelope["error"] | undefined;
  let done = false;
  let behind = 0;
  const finishes: string[] = [];
  for (const block of blocks) {
    if (block.startsWith(":")) {
      comments++;
      continue;
    }
    if (!block.startsWith("data: ") || block.includes("\n")) throw new Error(`not one data line: ${block}`);
    if (done || error !== undefined) behind++;
    const data = block.slice("data: ".length);
    if (data === "[DONE]") {
      done = true;
      continue;
    }
    const chunk = JSON.parse(data) as ReadChunk;
    error ??= chunk.error;
    for (const { delta, finish_reason } of chunk.choices ?? []) {
      text += delta.content ?? "";
      if (finish_reason !== null) finishes.push(finish_reason);
    }
  }
  return { comments, text, finishes, error, done, behind };
}
