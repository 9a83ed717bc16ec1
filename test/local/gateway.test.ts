import { createHash } from "node:crypto";
import OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { startGateway, type Gateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const limitMs = 60_000;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const key = "sk-never-logged";
const messages = [{ role: "user" as const, content: "something private" }];

async function upstreamAndDocument(): Promise<{ upstream: Upstream; document: unknown }> {
  const upstream = await startUpstream();
  stops.push(() => upstream.stop());
  const document = {
    upstreams: { local: { base_url: upstream.baseUrl, credential: "LOCAL_KEY" } },
    routes: { "local/*": { targets: [{ upstream: "local" }] } },
    tenants: { a: { keys: [`sha256:${createHash("sha256").update(key).digest("hex")}`], models: ["local/*"] } },
  };
  return { upstream, document };
}

const clientOf = (gateway: Gateway): OpenAI => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("through the relay a close reaches the upstream during a silence", { timeout: limitMs }, async () => {
  const { upstream, document } = await upstreamAndDocument();
  const secrets = { LOCAL_KEY: "secret-value" };
  const gateway = await startGateway({ config: document, secrets, relay: true });
  stops.push(() => gateway.stop());
  for (const stream of [false, true]) {
    const leave = new AbortController();
    const asked = clientOf(gateway).chat.completions.create(
      { model: "local/slow", messages, stream },
      { signal: leave.signal },
    );
    await expect.poll(() => upstream.open, { interval: 5 }).toBe(1);
    leave.abort();
    await expect(asked).rejects.toThrow(OpenAI.APIUserAbortError);
    await expect.poll(() => upstream.open, { timeout: 2000 }).toBe(0);
  }
  expect(gateway.logs()).not.toMatch(/sk-never-logged|something private|secret-value/);
});

test("stops with a request hanging, and takes workerd with it", { timeout: limitMs }, async () => {
  const { document } = await upstreamAndDocument();
  const gateway = await startGateway({ kv: JSON.stringify(document), secrets: { LOCAL_KEY: "secret-value" } });
  const { pid } = gateway;
  expect(runs(pid)).toBe(true);
  const hanging = await clientOf(gateway).chat.completions.create({ model: "local/stall", messages, stream: true });
  const chunks = hanging[Symbol.asyncIterator]();
  await chunks.next();
  await gateway.stop();
  expect(runs(pid)).toBe(false);
  await expect(async () => {
    while (!(await chunks.next()).done);
  }).rejects.toThrow();
});
