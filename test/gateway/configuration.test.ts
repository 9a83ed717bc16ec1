import { afterEach, expect, test } from "vitest";
import { startGateway, type Gateway, type GatewayOptions } from "../local/gateway.ts";
import { KEY, messages, oneTenant } from "./rig.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";
import { completion, response } from "./wire.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function start(options: GatewayOptions): Promise<Gateway> {
  const gateway = await startGateway(options);
  stops.push(() => gateway.stop());
  return gateway;
}

async function startUpstream(): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream();
  stops.push(() => upstream.stop());
  upstream.answer("m", ({ put }) => put(response(200, completion("hello"))));
  return upstream;
}

const ask = async (gateway: Gateway): Promise<number> => {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: "m", messages }),
  });
  await answer.text();
  return answer.status;
};

test("the document may be JSON text", async () => {
  const { baseUrl } = await startUpstream();
  expect(await ask(await start({ config: JSON.stringify(oneTenant(baseUrl)) }))).toBe(200);
});

const broken: readonly (readonly [string, unknown, RegExp])[] = [
  ["none at all", undefined, /config_missing/],
  ["no JSON", "{not json", /not JSON/],
  ["an empty text", "", /not JSON/],
  ["a number", 5, /config_invalid/],
  ["an empty object", {}, /upstreams: /],
  [
    "a base_url that is none",
    { ...(oneTenant("x") as object), upstreams: { plain: { base_url: "secret-not-a-url" } } },
    /upstreams\.plain\.base_url: /,
  ],
  [
    "an unknown name",
    { ...(oneTenant("http://u.test/v1") as object), tenant_headr: "x" },
    /tenant_headr: unknown name/,
  ],
  [
    "a key that is not hashed",
    { ...(oneTenant("http://u.test/v1") as object), tenants: { acme: { keys: ["sk-secret-plain"] } } },
    /tenants\.acme\.keys\[0\]: /,
  ],
  [
    "a value for the name of a secret",
    {
      ...(oneTenant("http://u.test/v1") as object),
      upstreams: { plain: { base_url: "http://u.test", credential: "sk-secret-value" } },
    },
    /upstreams\.plain\.credential: /,
  ],
  [
    "an upstream that is not there",
    { ...(oneTenant("http://u.test/v1") as object), routes: { m: { targets: [{ upstream: "constructor" }] } } },
    /routes\.m\.targets\[0\]\.upstream: /,
  ],
  [
    "a credential that names the configuration",
    {
      ...(oneTenant("http://u.test/v1") as object),
      upstreams: { plain: { base_url: "http://u.test", credential: "GATEWAY" } },
    },
    /upstreams\.plain\.credential: /,
  ],
];

test.each(broken)(
  "without a valid document (%s) everything is a 503 without details, and the log says why",
  async (_what, config, reason) => {
    const gateway = await start(config === undefined ? {} : { config });
    for (const [method, path] of [
      ["GET", "/health"],
      ["GET", "/v1/models"],
      ["POST", "/v1/chat/completions"],
      ["GET", "/nothing"],
    ] as const) {
      const answer = await fetch(`${gateway.url}${path}`, { method, headers: { authorization: `Bearer ${KEY}` } });
      expect(answer.status).toBe(503);
      expect(await answer.json()).toEqual({
        error: {
          message: "The gateway is not configured.",
          type: "server_error",
          param: null,
          code: "gateway_not_configured",
        },
      });
    }
    expect(gateway.logs()).toMatch(reason);
    expect(gateway.logs()).not.toMatch(/secret-|sk-/);
  },
);

test(
  "a new document in KV is picked up within a minute, a bad one is not, and says where",
  { timeout: 120_000 },
  async () => {
    const { baseUrl } = await startUpstream();
    const good = oneTenant(baseUrl);
    const gateway = await start({ config: oneTenant("http://127.0.0.1:9/v1"), kv: JSON.stringify(good) });
    expect(await ask(gateway)).toBe(200);
    await gateway.putKv(JSON.stringify({ ...good, max_body_bytes: 10 }));
    const limit = Date.now() + 60_000;
    while ((await ask(gateway)) !== 413) {
      expect(Date.now()).toBeLessThan(limit);
      await new Promise((settle) => setTimeout(settle, 500));
    }
    expect(gateway.logs()).not.toContain("config_invalid");
  },
);
