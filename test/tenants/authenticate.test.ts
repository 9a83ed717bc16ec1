import { describe, expect, it } from "vitest";
import type { GatewayError } from "../../src/protocol/errors.ts";
import type { Result } from "../../src/protocol/result.ts";
import { authenticate, keyOf } from "../../src/tenants/authenticate.ts";
import type { Config, Tenant } from "../../src/tenants/config.ts";
import { configOf, DOCUMENT, keyHash, sha256 } from "./configured.ts";

const TENANTS = {
  acme: { keys: [keyHash("sk-acme"), keyHash("sk-both")] },
  globex: { keys: [keyHash("sk-globex"), keyHash("sk-both")] },
  empty: {},
};
const byKey = configOf({ ...DOCUMENT, tenants: TENANTS });
const byHeader = configOf({ ...DOCUMENT, auth: "header", tenants: TENANTS });

interface Claim {
  readonly tenant: string | null;
  readonly authorization: string | null;
  readonly apiKey: string | null;
}
/** As a request is read: its key, the digest of that, its tenant. */
function tenantFor(
  config: Config,
  { tenant = null, authorization = null, apiKey = null }: Partial<Claim>,
): Result<Tenant, GatewayError> {
  const headers = new Map([
    ["authorization", authorization],
    ["api-key", apiKey],
  ]);
  const key = keyOf({ get: (name) => headers.get(name) ?? null });
  return authenticate(config, tenant, key === "" ? "" : sha256(key));
}
const verdict = (claim: Partial<Claim>, config = byKey): unknown => {
  const result = tenantFor(config, claim);
  return result.ok ? result.value.id : [result.error.status, result.error.error.code];
};
const bearer = (key: string): Partial<Claim> => ({ authorization: `Bearer ${key}` });

describe("by key", () => {
  it.each<[string, Partial<Claim>, unknown]>([
    ["a key of one tenant", bearer("sk-acme"), "acme"],
    ["... in the api-key header", { apiKey: "sk-acme" }, "acme"],
    ["... with the scheme in any case", { authorization: "bearer sk-acme" }, "acme"],
    ["... with more spaces", { authorization: "BEARER   sk-acme " }, "acme"],
    ["a key and its tenant's header", { ...bearer("sk-acme"), tenant: "acme" }, "acme"],
    ["... with space around it", { ...bearer("sk-acme"), tenant: " acme " }, "acme"],
    ["a key with another tenant's header", { ...bearer("sk-acme"), tenant: "globex" }, [403, "tenant_forbidden"]],
    ["a key with the header of nobody", { ...bearer("sk-acme"), tenant: "nobody" }, [403, "tenant_forbidden"]],
    ["a key with a tenant's name in another case", { ...bearer("sk-acme"), tenant: "ACME" }, [403, "tenant_forbidden"]],
    ["a key of two tenants without the header", bearer("sk-both"), [400, "tenant_required"]],
    ["a key of two tenants with the header", { ...bearer("sk-both"), tenant: "globex" }, "globex"],
    [
      "a key of two tenants with the header of a third",
      { ...bearer("sk-both"), tenant: "empty" },
      [403, "tenant_forbidden"],
    ],
    ["no key", {}, [401, "missing_api_key"]],
    ["no key, but a header", { tenant: "acme" }, [401, "missing_api_key"]],
    ["an empty key", bearer(""), [401, "missing_api_key"]],
    ["an empty api-key", { apiKey: " " }, [401, "missing_api_key"]],
    ["an unknown key", bearer("sk-x"), [401, "invalid_api_key"]],
    [
      "an unknown key with a tenant's header: no word about the tenant",
      { ...bearer("sk-x"), tenant: "nobody" },
      [401, "invalid_api_key"],
    ],
    ["the hash instead of the key", bearer(sha256("sk-acme")), [401, "invalid_api_key"]],
    ["the hash as it stands in the document", bearer(keyHash("sk-acme")), [401, "invalid_api_key"]],
    ["another scheme", { authorization: "Basic sk-acme" }, [401, "missing_api_key"]],
    ["a key in another case", bearer("SK-ACME"), [401, "invalid_api_key"]],
    ["two keys joined", bearer("sk-acme, Bearer sk-globex"), [401, "invalid_api_key"]],
    [
      "a bearer key that is wrong beside an api-key that is right",
      { ...bearer("sk-x"), apiKey: "sk-acme" },
      [401, "invalid_api_key"],
    ],
    ["a tenant without keys", { ...bearer("sk-acme"), tenant: "empty" }, [403, "tenant_forbidden"]],
    ["a tenant called like a method", { ...bearer("sk-acme"), tenant: "__proto__" }, [403, "tenant_forbidden"]],
    [
      "an unknown key with an empty header: the key comes first",
      { ...bearer("sk-x"), tenant: "" },
      [401, "invalid_api_key"],
    ],
    ["no key and an empty header: the key comes first", { tenant: "" }, [401, "missing_api_key"]],
  ])("%s", (_name, claim, expected) => expect(verdict(claim)).toEqual(expected));
});

describe("by header", () => {
  it.each<[string, Partial<Claim>, unknown]>([
    ["a tenant", { tenant: "acme" }, "acme"],
    ["a tenant, whatever key", { tenant: "acme", ...bearer("sk-globex") }, "acme"],
    ["a tenant without keys", { tenant: "empty" }, "empty"],
    ["no header", bearer("sk-acme"), [400, "tenant_required"]],
    ["an empty header", { tenant: " " }, [400, "tenant_required"]],
    ["nobody", { tenant: "nobody" }, [403, "tenant_forbidden"]],
    ["a name of a method", { tenant: "constructor" }, [403, "tenant_forbidden"]],
    ["two headers joined", { tenant: "acme, globex" }, [403, "tenant_forbidden"]],
  ])("%s", (_name, claim, expected) => expect(verdict(claim, byHeader)).toEqual(expected));
});

describe("errors", () => {
  it("quote neither key nor tenant", () => {
    for (const claim of [bearer("sk-very-secret"), { ...bearer("sk-acme"), tenant: "globex" }, bearer("sk-both")]) {
      const result = tenantFor(byKey, claim);
      expect(result.ok).toBe(false);
      expect(result.ok ? "" : result.error.error.message).not.toMatch(/sk-very|globex|acme/);
    }
  });
  it("name the header to send", () => {
    const result = tenantFor(configOf({ ...DOCUMENT, tenant_header: "X-Org", tenants: TENANTS }), bearer("sk-both"));
    expect(result.ok ? "" : result.error.error.message).toContain("`x-org`");
  });
});
