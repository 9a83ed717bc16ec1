import { describe, expect, it } from "vitest";
import type { Target } from "../../src/upstream/target.ts";
import { configOf, DOCUMENT, keyHash, sha256 } from "./configured.ts";

const targetFrom = (upstream: object, target: object = {}): Target => {
  const config = configOf({
    ...DOCUMENT,
    upstreams: { gpu: { base_url: "http://x/v1", ...upstream } },
    routes: { m: { targets: [{ upstream: "gpu", ...target }] } },
  });
  return config.routes.find("m")?.targets[0] as Target;
};

describe("createConfig", () => {
  it("has defaults", () => {
    const config = configOf(DOCUMENT);
    expect([config.tenantHeader, config.auth, config.maxBodyBytes]).toEqual(["x-tenant", "key", 20 * 1024 * 1024]);
  });
  it("takes the header's name in lower case", () =>
    expect(configOf({ ...DOCUMENT, tenant_header: "X-Org" }).tenantHeader).toBe("x-org"));
  it("gives a target its defaults", () => {
    expect(targetFrom({})).toMatchObject({
      upstream: "gpu",
      baseUrl: "http://x/v1",
      credential: undefined,
      headers: {},
      binding: undefined,
      preferStream: false,
      provider: { id: "openai-compatible" },
      deadlines: { first_event_ms: 120_000, idle_ms: 60_000, total_ms: 600_000, keep_alive_ms: 10_000 },
      capabilities: { streaming: true, streaming_with_tools: true },
    });
    expect(targetFrom({}).model).toBe(undefined);
  });
  it("takes what the upstream says", () => {
    expect(
      targetFrom({
        provider: "vllm",
        credential: "K",
        headers: { a: "b" },
        binding: "B",
        prefer_stream: true,
        idle_ms: 5,
        capabilities: { streaming_with_tools: false },
      }),
    ).toMatchObject({
      credential: "K",
      headers: { a: "b" },
      binding: "B",
      preferStream: true,
      provider: { id: "vllm" },
      deadlines: { first_event_ms: 120_000, idle_ms: 5 },
      capabilities: { streaming: true, streaming_with_tools: false },
    });
  });
  it("takes first what the target says, member by member", () => {
    const upstream = {
      prefer_stream: true,
      idle_ms: 5,
      total_ms: 6,
      capabilities: { streaming: false, streaming_with_tools: false },
    };
    expect(
      targetFrom(upstream, { model: "big", prefer_stream: false, idle_ms: 7, capabilities: { streaming: true } }),
    ).toMatchObject({
      model: "big",
      preferStream: false,
      deadlines: { idle_ms: 7, total_ms: 6 },
      capabilities: { streaming: true, streaming_with_tools: false },
    });
  });
  it("keeps all targets in order", () => {
    const config = configOf({
      ...DOCUMENT,
      routes: {
        m: {
          targets: [
            { upstream: "gpu", model: "a" },
            { upstream: "gpu", model: "b" },
          ],
        },
      },
    });
    expect(config.routes.find("m")?.targets.map(({ model }) => model)).toEqual(["a", "b"]);
  });
  it("knows which tenants a key serves, each once", () => {
    const config = configOf({
      ...DOCUMENT,
      tenants: { a: { keys: [keyHash("1"), keyHash("1"), keyHash("2")] }, b: { keys: [keyHash("1")] }, c: {} },
    });
    expect(config.keys.get(sha256("1"))?.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(config.keys.get(sha256("2"))?.map(({ id }) => id)).toEqual(["a"]);
    expect(config.keys.get(sha256("3"))).toBe(undefined);
  });
});
