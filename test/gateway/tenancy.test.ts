import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRaw, rawRequest, type RawAnswer } from "./raw-client.ts";
import { hashed, messages, startRig, type Rig } from "./rig.ts";
import { completion, response } from "./wire.ts";

const KEY_A = "sk-key-of-acme";
const KEY_B = "sk-key-of-beta";
const KEY_BOTH = "sk-key-of-both";

const document = (baseUrl: string): object => ({
  upstreams: { gpu: { base_url: baseUrl, credential: "GPU_KEY" } },
  routes: {
    shared: { targets: [{ upstream: "gpu" }] },
    "beta-only": { targets: [{ upstream: "gpu" }] },
    "org/*": { targets: [{ upstream: "gpu" }] },
  },
  tenants: {
    acme: {
      keys: [hashed(KEY_A), hashed(KEY_BOTH)],
      models: ["shared", "own", "org/*"],
      routes: { own: { targets: [{ upstream: "gpu", model: "shared" }] } },
    },
    beta: {
      keys: [hashed(KEY_B), hashed(KEY_BOTH)],
      models: ["shared", "beta-only"],
      routes: { secret: { targets: [{ upstream: "gpu", model: "shared" }] } },
    },
  },
});

let rig: Rig;
let byHeader: Rig;
beforeAll(async () => {
  [rig, byHeader] = await Promise.all([
    startRig({ document, secrets: { GPU_KEY: "gpu-secret" } }),
    startRig({
      document: (url) => ({ ...document(url), auth: "header", tenant_header: "X-Team" }),
      secrets: { GPU_KEY: "gpu-secret" },
    }),
  ]);
  for (const { upstream } of [rig, byHeader]) {
    for (const model of ["shared", "beta-only"])
      upstream.answer(model, ({ put }) => put(response(200, completion("served"))));
  }
});
afterAll(() => Promise.all([rig.stop(), byHeader.stop()]));

const chat = (model: string): string => JSON.stringify({ model, messages });

/** One request with just these headers, as they stand. */
async function ask(
  to: Rig,
  headers: readonly string[],
  model = "shared",
  line = "POST /v1/chat/completions",
): Promise<RawAnswer & { code: string | undefined }> {
  const client = await openRaw(to.gateway.url, rawRequest(line, headers, line.startsWith("GET") ? "" : chat(model)));
  const answer = await client.answer();
  client.close();
  return { ...answer, code: (JSON.parse(answer.body) as { error?: { code: string } }).error?.code };
}

const bearer = (key: string): string => `Authorization: Bearer ${key}`;

describe("the key proves the tenant", () => {
  test.each<[string, readonly string[]]>([
    ["a key of one tenant alone", [bearer(KEY_A)]],
    ["the key and its header", [bearer(KEY_A), "X-Tenant: acme"]],
    ["an api-key header", [`api-key: ${KEY_B}`]],
    ["a key of both and the header", [bearer(KEY_BOTH), "x-tenant: beta"]],
    ["a scheme in another case", [`authorization: bEARER  ${KEY_A}`]],
    ["white space around the name", [bearer(KEY_A), "x-tenant: \t acme  "]],
  ])("%s is served", async (_what, headers) => {
    expect((await ask(rig, headers)).status).toBe(200);
  });

  test.each<[string, readonly string[], number, string]>([
    ["no key", [], 401, "missing_api_key"],
    ["an unknown key", [bearer("sk-unknown")], 401, "invalid_api_key"],
    ["an unknown key for a tenant that exists", [bearer("sk-unknown"), "x-tenant: acme"], 401, "invalid_api_key"],
    ["an unknown key for a tenant that does not", [bearer("sk-unknown"), "x-tenant: nobody"], 401, "invalid_api_key"],
    ["an unknown key and an empty tenant", [bearer("sk-unknown"), "x-tenant:"], 401, "invalid_api_key"],
    ["no key and an empty tenant", ["x-tenant: "], 401, "missing_api_key"],
    ["another tenant's key", [bearer(KEY_B), "x-tenant: acme"], 403, "tenant_forbidden"],
    ["a tenant that does not exist", [bearer(KEY_B), "x-tenant: nobody"], 403, "tenant_forbidden"],
    ["a name in another case", [bearer(KEY_A), "x-tenant: ACME"], 403, "tenant_forbidden"],
    ["a look-alike name", [bearer(KEY_A), "x-tenant: \u00e0cme"], 403, "tenant_forbidden"],
    ["two headers", [bearer(KEY_A), "x-tenant: acme", "x-tenant: beta"], 403, "tenant_forbidden"],
    ["the same header twice", [bearer(KEY_A), "x-tenant: acme", "X-Tenant: acme"], 403, "tenant_forbidden"],
    ["a list", [bearer(KEY_A), "x-tenant: acme, beta"], 403, "tenant_forbidden"],
    ["__proto__", [bearer(KEY_A), "x-tenant: __proto__"], 403, "tenant_forbidden"],
    ["constructor", [bearer(KEY_A), "x-tenant: constructor"], 403, "tenant_forbidden"],
    ["toString", [bearer(KEY_A), "x-tenant: toString"], 403, "tenant_forbidden"],
    ["a key of both without the header", [bearer(KEY_BOTH)], 400, "tenant_required"],
    ["a key of both with an empty header", [bearer(KEY_BOTH), "x-tenant:"], 400, "tenant_required"],
    ["an empty header", [bearer(KEY_A), "x-tenant:"], 400, "tenant_required"],
    ["two authorizations", [bearer(KEY_A), bearer(KEY_B)], 401, "invalid_api_key"],
    ["two keys in one", [bearer(`${KEY_A}, Bearer ${KEY_B}`)], 401, "invalid_api_key"],
    ["a bare scheme", ["authorization: Bearer"], 401, "missing_api_key"],
    ["another scheme", [`authorization: Basic ${KEY_A}`], 401, "missing_api_key"],
    ["no scheme", [`authorization: ${KEY_A}`], 401, "missing_api_key"],
    ["the hash instead of the key", [bearer(hashed(KEY_A))], 401, "invalid_api_key"],
    ["the bare hash", [bearer(hashed(KEY_A).slice(7))], 401, "invalid_api_key"],
    ["__proto__ as a key", [bearer("__proto__")], 401, "invalid_api_key"],
    ["a key in x-api-key", [`x-api-key: ${KEY_A}`], 401, "missing_api_key"],
    ["a key in a cookie", [`cookie: api-key=${KEY_A}; authorization=Bearer ${KEY_A}`], 401, "missing_api_key"],
    ["an unknown key before a known one", [bearer("sk-unknown"), `api-key: ${KEY_A}`], 401, "invalid_api_key"],
  ])("%s is refused", async (_what, headers, status, code) => {
    const before = rig.upstream.asked("shared").length;
    const answer = await ask(rig, headers);
    expect({ status: answer.status, code: answer.code }).toEqual({ status, code });
    expect(rig.upstream.asked("shared")).toHaveLength(before);
    expect(answer.body).not.toMatch(/acme|beta/);
  });

  test.each([
    "x_tenant: acme",
    "x-tenant-id: acme",
    "tenant: acme",
    "x-forwarded-tenant: acme",
    "x-sluice-tenant: acme",
  ])("a look-alike %j names nobody", async (header) => {
    const answer = await ask(rig, [bearer(KEY_BOTH), header]);
    expect(answer.status).toBe(400);
  });

  test("keys in the URL or the body do not count", async () => {
    expect(
      await ask(rig, [], "shared", `POST /v1/chat/completions?api-key=${KEY_A}&authorization=Bearer%20${KEY_A}`),
    ).toMatchObject({ status: 401 });
    const body = JSON.stringify({ model: "shared", messages, api_key: KEY_A, authorization: `Bearer ${KEY_A}` });
    const client = await openRaw(rig.gateway.url, rawRequest("POST /v1/chat/completions", [], body));
    expect((await client.answer()).status).toBe(401);
    client.close();
  });

  test("a tenant that exists and one that does not are refused in the same words, on every path", async () => {
    for (const line of ["POST /v1/chat/completions", "GET /v1/models", "GET /v1/models/shared"]) {
      const [theirs, nobodys] = [
        await ask(rig, [bearer(KEY_A), "x-tenant: beta"], "shared", line),
        await ask(rig, [bearer(KEY_A), "x-tenant: gamma"], "shared", line),
      ];
      expect(theirs.status).toBe(403);
      expect(differing(theirs, nobodys)).toEqual([]);
    }
  });
});

describe("the header alone, where something in front has authenticated", () => {
  test.each<[string, readonly string[], number]>([
    ["the header", ["x-team: acme"], 200],
    ["a key that nobody knows", ["X-TEAM: acme", bearer("sk-whatever")], 200],
    ["no header", [bearer(KEY_A)], 400],
    ["the default header", ["x-tenant: acme"], 400],
    ["an unknown tenant", ["x-team: nobody"], 403],
    ["two tenants", ["x-team: acme", "x-team: beta"], 403],
    ["__proto__", ["x-team: __proto__"], 403],
  ])("%s", async (_what, headers, status) => {
    expect((await ask(byHeader, headers)).status).toBe(status);
  });
});

describe("models", () => {
  test.each([
    "beta-only",
    "secret",
    "nothing-of-the-kind",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "*",
    "org",
    "Shared",
    "shared ",
    "\ud800",
  ])("%j is unknown to a tenant that may not use it", async (model) => {
    const answer = await ask(rig, [bearer(KEY_A)], model);
    expect(answer).toMatchObject({ status: 404, code: "model_not_found" });
    const other = await ask(rig, [bearer(KEY_A)], "unknown-reference");
    expect(answer.body.replaceAll(JSON.stringify(model).slice(1, -1), "_")).toBe(
      other.body.replaceAll("unknown-reference", "_"),
    );
    expect(Object.keys(answer.headers).sort()).toEqual(Object.keys(other.headers).sort());
  });

  test("the list holds a tenant's own names only, and so does the lookup", async () => {
    const list = await ask(rig, [bearer(KEY_A)], "", "GET /v1/models");
    expect((JSON.parse(list.body) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(["own", "shared"]);
    for (const id of ["beta-only", "secret", "__proto__", "constructor", "..%2Fbeta-only"]) {
      expect(await ask(rig, [bearer(KEY_A)], "", `GET /v1/models/${id}`)).toMatchObject({
        status: 404,
        code: "model_not_found",
      });
    }
  });
});

describe("what an upstream sees", () => {
  test("is the body and headers of our own, whatever came in", async () => {
    const headers = [
      bearer(KEY_BOTH),
      "x-tenant: acme",
      "api-key: sk-other",
      "cookie: session=1",
      "x-stainless-lang: js",
      "openai-organization: org-1",
      "idempotency-key: i-1",
      "x-request-id: client-chosen",
      "x-forwarded-for: 1.2.3.4",
      "cf-connecting-ip: 1.2.3.4",
      "cf-ray: abc",
      "accept-language: de",
      "user-agent: OpenAI/JS 7",
      "traceparent: 00-1-2-01",
      "x-anything: else",
      "connection: keep-alive, x-anything",
    ];
    const answer = await ask(rig, headers);
    expect(answer.status).toBe(200);
    const seen = rig.upstream.asked("shared").at(-1);
    // `cf-worker` is the runtime's own and cannot be left out.
    expect(Object.keys(seen?.headers ?? {}).sort()).toEqual([
      "accept",
      "authorization",
      "cf-worker",
      "content-length",
      "content-type",
      "host",
      "user-agent",
      "x-request-id",
    ]);
    expect(seen?.headers).toMatchObject({
      authorization: "Bearer gpu-secret",
      host: new URL(rig.upstream.baseUrl).host,
      "user-agent": "sluice",
    });
    expect(JSON.stringify(seen)).not.toMatch(/acme|sk-|client-chosen|1\.2\.3\.4|session/);
    expect(answer.headers["x-request-id"]).toBe("client-chosen");
  });

  test("never names the host that a request asks for", async () => {
    const evil = ["host: evil.test", "x-forwarded-host: evil.test", "x-upstream-url: http://evil.test/"];
    const body = JSON.stringify({
      model: "shared",
      messages,
      base_url: "http://evil.test/v1",
      url: "http://evil.test",
      upstream: "evil",
      api_base: "http://evil.test",
    });
    const client = await openRaw(
      rig.gateway.url,
      rawRequest("POST http://evil.test/v1/chat/completions", [bearer(KEY_A), ...evil.slice(1)], body),
    );
    expect((await client.answer()).status).toBe(200);
    client.close();
    expect(rig.upstream.asked("shared").at(-1)?.headers["host"]).toBe(new URL(rig.upstream.baseUrl).host);
  });
});

/** The parts in which two answers differ, but for their ids and dates. */
function differing(a: RawAnswer, b: RawAnswer): string[] {
  const names = new Set([...Object.keys(a.headers), ...Object.keys(b.headers)]);
  const headers = [...names].filter(
    (name) => name !== "x-request-id" && name !== "date" && a.headers[name] !== b.headers[name],
  );
  return [...headers, ...(a.status === b.status ? [] : ["status"]), ...(a.body === b.body ? [] : ["body"])];
}
