import { describe, expect, it } from "vitest";
import { parseDocument } from "../../src/tenants/document.ts";
import { PROVIDERS } from "../../src/upstream/catalog.ts";
import { DOCUMENT, documentOf, keyHash } from "./configured.ts";

const faultsOf = (value: unknown): readonly string[] => {
  const parsed = parseDocument(value);
  return "faults" in parsed ? parsed.faults : [];
};
const upstream = (more: object): object => ({
  ...DOCUMENT,
  upstreams: { gpu: { base_url: "http://10.0.0.5:8000/v1", ...more } },
});
const tenant = (more: object): object => ({ ...DOCUMENT, tenants: { acme: more } });
const target = (more: object): object => ({
  ...DOCUMENT,
  routes: { llama: { targets: [{ upstream: "gpu" }, { upstream: "gpu", ...more }] } },
});

/** The whole of the binding names. */
const FULL = {
  tenant_header: "x-tenant",
  auth: "key",
  upstreams: {
    gpu: {
      provider: "vllm",
      base_url: "http://10.0.0.5:8000/v1",
      credential: "GPU_KEY",
      headers: { "x-team": "red", "cf-access-client-secret": { secret: "ACCESS_SECRET" } },
      binding: "VPC_GPU",
      prefer_stream: false,
      first_event_ms: 120000,
      idle_ms: 60000,
      total_ms: 600000,
      keep_alive_ms: 10000,
      capabilities: { streaming: true, streaming_with_tools: true },
    },
  },
  routes: {
    llama: { targets: [{ upstream: "gpu", model: "meta-llama/Llama-3.3-70B-Instruct" }] },
    "case-*": { targets: [{ upstream: "gpu" }] },
  },
  tenants: { acme: { keys: [keyHash("a")], models: ["llama", "case-*"], routes: {}, defaults: { temperature: 0.2 } } },
};

describe("a good document", () => {
  it.each<[string, unknown]>([
    ["with every name", FULL],
    ["the least", { upstreams: {}, tenants: {} }],
    ["with max_body_bytes", { ...DOCUMENT, max_body_bytes: 1000 }],
    ["auth by header, no keys", { ...DOCUMENT, auth: "header", tenants: { acme: {} } }],
    [
      "a target with overrides",
      target({
        model: "x",
        prefer_stream: true,
        first_event_ms: 1,
        idle_ms: 1,
        total_ms: 1,
        keep_alive_ms: 1,
        capabilities: { streaming: false },
      }),
    ],
    ["https", upstream({ base_url: "https://api.example/v1?api-version=1" })],
    ["an IPv6 host", upstream({ base_url: "http://[::1]:8000" })],
    ["several keys", tenant({ keys: [keyHash("a"), keyHash("b")] })],
    [
      "a model name with slashes and colons",
      {
        ...DOCUMENT,
        routes: { "org/model:7b@x y": { targets: [{ upstream: "gpu" }] }, "*": { targets: [{ upstream: "gpu" }] } },
      },
    ],
    ["any defaults", tenant({ defaults: { temperature: 0.2, stop: ["x"], metadata: { a: null } } })],
  ])("%s", (_name, value) => expect(faultsOf(value)).toEqual([]));

  it("is given back as it was", () => expect(documentOf(FULL)).toEqual(FULL));
});

describe("a fault is told with its path", () => {
  it.each<[string, unknown, readonly string[]]>([
    ["no object", 5, [": must be object"]],
    ["nothing", undefined, [": must be object"]],
    ["no upstreams", { tenants: {} }, ["upstreams: must be record"]],
    ["no tenants", { upstreams: {} }, ["tenants: must be record"]],
    ["an unknown name", { ...DOCUMENT, tenant: {} }, ["tenant: unknown name"]],
    ["an unknown name of an upstream", upstream({ base_ur: "x" }), ["upstreams.gpu.base_ur: unknown name"]],
    ["an unknown name of a target", target({ modle: "x" }), ["routes.llama.targets[1].modle: unknown name"]],
    ["an unknown name of a tenant", tenant({ key: [] }), ["tenants.acme.key: unknown name"]],
    [
      "an unknown name of capabilities",
      upstream({ capabilities: { telepathy: true } }),
      ["upstreams.gpu.capabilities.telepathy: unknown name"],
    ],
    [
      "an unknown name beside a secret",
      upstream({ headers: { x: { secret: "A", y: 1 } } }),
      ["upstreams.gpu.headers.x.y: unknown name"],
    ],
    ["no base_url", { ...DOCUMENT, upstreams: { gpu: {} } }, ["upstreams.gpu.base_url: must be string"]],
    [
      "a base_url that is none",
      upstream({ base_url: "gpu:8000" }),
      ["upstreams.gpu.base_url: must be an http or https URL"],
    ],
    [
      "a base_url without a scheme",
      upstream({ base_url: "10.0.0.5:8000/v1" }),
      ["upstreams.gpu.base_url: must be an http or https URL"],
    ],
    [
      "a base_url of files",
      upstream({ base_url: "file:///etc/passwd" }),
      ["upstreams.gpu.base_url: must be an http or https URL"],
    ],
    [
      "a base_url with a password",
      upstream({ base_url: "http://u:hunter2@x/v1" }),
      ["upstreams.gpu.base_url: must not carry credentials: name a secret in `credential`"],
    ],
    [
      "an unknown provider",
      upstream({ provider: "acme" }),
      [`upstreams.gpu.provider: must be one of ${Object.keys(PROVIDERS).join(", ")}`],
    ],
    [
      "a provider called like a method",
      upstream({ provider: "constructor" }),
      [`upstreams.gpu.provider: must be one of ${Object.keys(PROVIDERS).join(", ")}`],
    ],
    [
      "a credential that is a value",
      upstream({ credential: "sk-abc" }),
      ["upstreams.gpu.credential: must be the NAME of a secret or binding (letters, digits, _), never a value"],
    ],
    [
      "a credential that is empty",
      upstream({ credential: "" }),
      ["upstreams.gpu.credential: must be the NAME of a secret or binding (letters, digits, _), never a value"],
    ],
    [
      "a credential that names the configuration",
      upstream({ credential: "GATEWAY" }),
      ["upstreams.gpu.credential: must not name the configuration itself"],
    ],
    [
      "a header that we set",
      upstream({ headers: { "Content-Length": "5" } }),
      ["upstreams.gpu.headers.Content-Length: must not be a header that the gateway sets itself"],
    ],
    [
      "a header name that is none",
      upstream({ headers: { "a b": "x" } }),
      ["upstreams.gpu.headers.a b: must be a header name"],
    ],
    [
      "a header value with a line end",
      upstream({ headers: { x: "a\r\nb: c" } }),
      ["upstreams.gpu.headers.x: must be printable text in one line"],
    ],
    [
      "a header value of another type",
      upstream({ headers: { x: 5 } }),
      ['upstreams.gpu.headers.x: must be text or {"secret": "NAME"}'],
    ],
    ["a limit of nothing", upstream({ idle_ms: 0 }), ["upstreams.gpu.idle_ms: must be at least 1"]],
    [
      "a limit of more than a day",
      upstream({ idle_ms: 86_400_001 }),
      ["upstreams.gpu.idle_ms: must be at most 86400000"],
    ],
    ["a limit as text", upstream({ idle_ms: "5" }), ["upstreams.gpu.idle_ms: must be number"]],
    [
      "a route without targets",
      { ...DOCUMENT, routes: { llama: { targets: [] } } },
      ["routes.llama.targets: must name at least one target"],
    ],
    [
      "a target of no upstream",
      target({ upstream: "cpu" }),
      ["routes.llama.targets[1].upstream: there is no such upstream"],
    ],
    [
      "a target of an upstream called like a method",
      target({ upstream: "toString" }),
      ["routes.llama.targets[1].upstream: there is no such upstream"],
    ],
    [
      "a tenant's target of no upstream",
      tenant({ routes: { x: { targets: [{ upstream: "cpu" }] } } }),
      ["tenants.acme.routes.x.targets[0].upstream: there is no such upstream"],
    ],
    ["an empty model name of a target", target({ model: "" }), ["routes.llama.targets[1].model: must not be empty"]],
    [
      "a route name with a * inside",
      { ...DOCUMENT, routes: { "a*b": { targets: [{ upstream: "gpu" }] } } },
      ["routes.a*b: must be a name, or the beginning of one and a single * at its end"],
    ],
    [
      "a model name with two *",
      tenant({ models: ["a", "b**"] }),
      ["tenants.acme.models[1]: must be a name, or the beginning of one and a single * at its end"],
    ],
    [
      "a key that is no hash",
      tenant({ keys: ["sk-acme"] }),
      ["tenants.acme.keys[0]: must be sha256: and the 64 hex digits of the key's SHA-256"],
    ],
    ["auth of another word", { ...DOCUMENT, auth: "none" }, ["auth: must be one of key, header"]],
    [
      "a tenant header that is none",
      { ...DOCUMENT, tenant_header: "x tenant" },
      ["tenant_header: must be a header name"],
    ],
    ["max_body_bytes of nothing", { ...DOCUMENT, max_body_bytes: 0 }, ["max_body_bytes: must be at least 1"]],
    [
      "several faults",
      { ...(upstream({ idle_ms: 0, x: 1 }) as object), auth: "x" },
      [
        "auth: must be one of key, header",
        "upstreams.gpu.idle_ms: must be at least 1",
        "upstreams.gpu.x: unknown name",
      ],
    ],
  ])("%s", (_name, value, faults) => expect([...faultsOf(value)].sort()).toEqual([...faults].sort()));

  it("and never quotes a value", () => {
    const secret = "hunter2-very-secret";
    const documents: unknown[] = [
      secret,
      upstream({ credential: secret }),
      upstream({ base_url: `http://u:${secret}@x` }),
      upstream({ base_url: secret }),
      upstream({ provider: secret }),
      upstream({ headers: { x: `${secret}\n` } }),
      upstream({ headers: { x: { secret } } }),
      upstream({ binding: secret }),
      upstream({ idle_ms: secret }),
      upstream({ capabilities: secret }),
      tenant({ keys: [secret] }),
      tenant({ keys: secret }),
      tenant({ models: [5, `${secret}**`] }),
      target({ upstream: secret }),
      { ...DOCUMENT, auth: secret },
      { ...DOCUMENT, tenant_header: `${secret} ` },
      { ...DOCUMENT, routes: secret },
    ];
    for (const value of documents) {
      expect(faultsOf(value).length).toBeGreaterThan(0);
      expect(faultsOf(value).join("\n")).not.toContain(secret);
    }
  });

  it("keys in upper case hex are refused or match: never accepted without effect", () => {
    const faults = faultsOf(tenant({ keys: [keyHash("sk-acme").toUpperCase().replace("SHA256", "sha256")] }));
    expect(faults).toEqual(["tenants.acme.keys[0]: must be sha256: and the 64 hex digits of the key's SHA-256"]);
  });

  it("prototype keys are names like any other", () => {
    const value: unknown = JSON.parse(
      `{"upstreams":{"__proto__":{"base_url":"http://x"}},"tenants":{},"routes":{"m":{"targets":[{"upstream":"__proto__"}]}}}`,
    );
    const parsed = parseDocument(value);
    expect("faults" in parsed ? parsed.faults : Object.hasOwn(parsed.document.upstreams, "__proto__")).not.toBe(false);
    expect(({} as Record<string, unknown>)["base_url"]).toBe(undefined);
  });

  it("a document with thousands of faults is told in a bounded text", () => {
    const keys = Array.from({ length: 5000 }, () => "x");
    expect(faultsOf(tenant({ keys })).length).toBeLessThanOrEqual(100);
    const names = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`n${i}`, 1]));
    expect(faultsOf({ ...DOCUMENT, ...names }).length).toBeLessThanOrEqual(100);
  });
});
