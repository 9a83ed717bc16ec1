import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashed, KEY } from "../gateway/rig.ts";
import { startGateway, type Gateway } from "../local/gateway.ts";
import { loadCaptures } from "../fixtures/captures.ts";

let server: Server;
let gateway: Gateway;
let asked: { path: string | undefined; method: string | undefined; key: string | undefined }[] = [];

// As vLLM lists them, with an adapter behind it.
const recorded = loadCaptures().find(({ name, server: of }) => name === "models" && of === "vllm-0.32.0-plain");
const list = JSON.parse(recorded?.pieces.join("") ?? "") as { data: object[] };
list.data.push({
  id: "lora/sql",
  object: "model",
  created: 9,
  root: "/adapters/sql",
  parent: "tiny",
  max_model_len: null,
});

beforeAll(async () => {
  server = createServer(({ url, method, headers }, response) => {
    asked.push({ path: url, method, key: headers.authorization });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(list));
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  gateway = await startGateway({
    secrets: { UPSTREAM_KEY: "upstream-key" },
    config: {
      upstreams: { gpu: { base_url, credential: "UPSTREAM_KEY" }, down: { base_url: "http://127.0.0.1:9/v1" } },
      routes: {
        "*": { targets: [{ upstream: "gpu" }] },
        fast: { targets: [{ upstream: "gpu", model: "tiny" }] },
        "gone-*": { targets: [{ upstream: "down" }] },
        "all-*": { targets: [{ upstream: "gpu", model: "tiny" }] },
      },
      tenants: {
        all: { keys: [hashed(KEY)] },
        some: { keys: [hashed("sk-some")], models: ["fast", "lora/*"] },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

const get = async (path: string, key = KEY): Promise<unknown> =>
  (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } })).json();
const card = (id: string, more: object = {}): object => ({
  id,
  object: "model",
  created: 0,
  owned_by: "sluice",
  ...more,
});

test("a route with a star lists its upstream's own models", async () => {
  const whole = {
    object: "list",
    data: [card("fast", { max_model_len: 2048 }), card("lora/sql"), card("tiny", { max_model_len: 2048 })],
  };
  expect(await get("/v1/models")).toEqual(whole);
  expect(await get("/v1/models/tiny")).toEqual(card("tiny", { max_model_len: 2048 }));
  expect(await get("/v1/models/lora%2Fsql")).toEqual(card("lora/sql"));
  expect(asked).toEqual([{ path: "/v1/models", method: "GET", key: "Bearer upstream-key" }]);
});

test("each tenant is told what it may use", async () => {
  await expect
    .poll(() => get("/v1/models", "sk-some"), { timeout: 10_000 })
    .toEqual({ object: "list", data: [card("fast", { max_model_len: 2048 }), card("lora/sql")] });
  expect(await get("/v1/models/tiny", "sk-some")).toMatchObject({ error: { code: "model_not_found" } });
});
