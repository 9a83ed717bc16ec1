import { describe, expect, test } from "vitest";
import { createConfigSource, type ConfigBindings } from "../../src/state/config-source.ts";
import type { Config } from "../../src/tenants/config.ts";

const documentOf = (tenant: string): object => ({
  upstreams: { gpu: { base_url: "http://gpu.test/v1" } },
  routes: { m: { targets: [{ upstream: "gpu" }] } },
  tenants: { [tenant]: {} },
});

/** A KV namespace of one key, whose reads are counted and can fail. */
function createStore(first: string | null): {
  text: string | null;
  reads: number;
  broken: boolean;
  kv: NonNullable<ConfigBindings["CONFIG"]>;
} {
  const store = {
    text: first,
    reads: 0,
    broken: false,
    kv: {
      get: async (key: string): Promise<string | null> => {
        store.reads++;
        if (store.broken) throw new Error("KV is down");
        return key === "gateway" ? store.text : null;
      },
    },
  };
  return store;
}

function createRig(bindings: ConfigBindings): {
  at(seconds: number): Promise<string | undefined>;
  atOnce(seconds: number): Config | undefined;
  log: string[];
} {
  const log: string[] = [];
  const source = createConfigSource((event, details) => log.push(`${event} ${JSON.stringify(details)}`));
  const tenantOf = (config: Config | undefined): string | undefined => config?.tenants.keys().next().value;
  return {
    log,
    async at(seconds): Promise<string | undefined> {
      const work: Promise<void>[] = [];
      const config = await source.current(bindings, seconds * 1000, (promise) => work.push(promise));
      await Promise.all(work);
      return tenantOf(config);
    },
    atOnce(seconds): Config | undefined {
      const config = source.current(bindings, seconds * 1000, () => undefined);
      if (config instanceof Promise) throw new Error("it had to be waited for");
      return config;
    },
  };
}

const start = 1_800_000_000;

describe("a document in KV", () => {
  test("is read once, and again in the background within a minute", async () => {
    const store = createStore(JSON.stringify(documentOf("first")));
    const rig = createRig({ CONFIG: store.kv });
    expect(await rig.at(start)).toBe("first");
    for (let i = 0; i < 100; i++) await rig.at(start + 1);
    expect(store.reads).toBe(1);
    store.text = JSON.stringify(documentOf("second"));
    expect(rig.atOnce(start + 31)?.tenants.has("first")).toBe(true);
    await new Promise((settle) => setTimeout(settle, 1));
    expect(await rig.at(start + 59)).toBe("second");
    expect(rig.log).toEqual([]);
  });

  test("comes before the variable", async () => {
    const rig = createRig({
      CONFIG: createStore(JSON.stringify(documentOf("stored"))).kv,
      GATEWAY: documentOf("variable"),
    });
    expect(await rig.at(start)).toBe("stored");
  });

  test.each([
    ["{ no json", /config_invalid.*not JSON.*previous/],
    [
      JSON.stringify({ ...documentOf("bad"), upstreams: { gpu: { base_url: "not a url, a secret" } } }),
      /upstreams\.gpu\.base_url: .*previous/,
    ],
    [JSON.stringify({ ...documentOf("bad"), extra_name: 1 }), /extra_name: unknown name.*previous/],
    ["", /config_invalid.*previous/],
    ["null", /config_invalid.*previous/],
  ])("that has become %s keeps the old one in force, and the log says so once", async (text, said) => {
    const store = createStore(JSON.stringify(documentOf("good")));
    const rig = createRig({ CONFIG: store.kv });
    await rig.at(start);
    store.text = text;
    for (let i = 1; i < 10; i++) expect(await rig.at(start + i * 60)).toBe("good");
    expect(rig.log).toHaveLength(1);
    expect(rig.log[0]).toMatch(said);
    expect(rig.log[0]).not.toContain("secret");
    store.text = JSON.stringify(documentOf("mended"));
    await rig.at(start + 660);
    expect(await rig.at(start + 661)).toBe("mended");
  });

  test("that cannot be read any more, or is gone, keeps the old one in force", async () => {
    const store = createStore(JSON.stringify(documentOf("good")));
    const rig = createRig({ CONFIG: store.kv });
    await rig.at(start);
    store.broken = true;
    expect(await rig.at(start + 60)).toBe("good");
    expect(await rig.at(start + 120)).toBe("good");
    store.broken = false;
    store.text = null;
    await rig.at(start + 180);
    expect(await rig.at(start + 240)).toBe("good");
  });

  test("that is not there falls back to the variable, until it is", async () => {
    const store = createStore(null);
    const rig = createRig({ CONFIG: store.kv, GATEWAY: JSON.stringify(documentOf("variable")) });
    expect(await rig.at(start)).toBe("variable");
    store.text = JSON.stringify(documentOf("stored"));
    await rig.at(start + 60);
    expect(await rig.at(start + 61)).toBe("stored");
  });

  test("that is bad from the start is no reason to serve another one", async () => {
    const rig = createRig({ CONFIG: createStore("{").kv, GATEWAY: documentOf("variable") });
    expect(await rig.at(start)).toBeUndefined();
    expect(rig.log[0]).toMatch(/config_invalid.*CONFIG/);
  });

  test("that hangs when it is read again holds nobody up", async () => {
    let hang = false;
    const kv = {
      get: (): Promise<string | null> =>
        hang ? new Promise(() => undefined) : Promise.resolve(JSON.stringify(documentOf("good"))),
    };
    const rig = createRig({ CONFIG: kv });
    await rig.at(start);
    hang = true;
    for (let i = 1; i < 5; i++) expect(rig.atOnce(start + i * 60)?.tenants.has("good")).toBe(true);
  });
});

describe("a document in the variable", () => {
  test.each([
    ["a table", documentOf("acme")],
    ["JSON text", JSON.stringify(documentOf("acme"))],
  ])("as %s is parsed once", async (_form, GATEWAY) => {
    const rig = createRig({ GATEWAY });
    const first = rig.atOnce(start);
    expect(first?.tenants.has("acme")).toBe(true);
    expect(rig.atOnce(start + 100_000)).toBe(first);
  });

  test("that is bad or missing says why once, not for every request", async () => {
    for (const bindings of [{}, { GATEWAY: "{" }, { GATEWAY: { tenants: {} } }]) {
      const rig = createRig(bindings);
      for (let i = 0; i < 5; i++) expect(await rig.at(start + i)).toBeUndefined();
      expect(rig.log).toHaveLength(1);
    }
  });
});
