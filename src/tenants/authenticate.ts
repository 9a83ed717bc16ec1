import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { Config, Tenant } from "./config.ts";

/**
 * The header names the tenant, the key proves it. Tells nobody which tenants there are.
 * @param tenantHeader the value of the tenant header; null: it is absent
 * @param keyDigest the hex digits of the key's SHA-256; "": there is no key
 */
export function authenticate(
  config: Config,
  tenantHeader: string | null,
  keyDigest: string,
): Result<Tenant, GatewayError> {
  const name = tenantHeader?.trim();
  if (config.auth === "header") {
    if (name === undefined || name === "") return err(tenantRequired(config));
    const tenant = config.tenants.get(name);
    return tenant === undefined ? err(forbidden()) : ok(tenant);
  }
  if (keyDigest === "") {
    const how = "Send it in an Authorization header: `Authorization: Bearer YOUR_KEY`.";
    return err(gatewayError("missing_api_key", `You didn't provide an API key. ${how}`));
  }
  const tenants = config.keys.get(keyDigest);
  if (tenants === undefined) return err(gatewayError("invalid_api_key", "Incorrect API key provided."));
  if (name === "") return err(tenantRequired(config));
  if (name === undefined) {
    const [only] = tenants;
    return only !== undefined && tenants.length === 1 ? ok(only) : err(tenantRequired(config));
  }
  const tenant = tenants.find(({ id }) => id === name);
  return tenant === undefined ? err(forbidden()) : ok(tenant);
}

/** The key that a request carries: a bearer token, else the `api-key` header of Azure's clients; "" if there is none. */
export function keyOf(headers: Pick<Headers, "get">): string {
  const authorization = headers.get("authorization");
  if (authorization === null) return headers.get("api-key")?.trim() ?? "";
  return /^bearer\s+(.*)$/i.exec(authorization)?.[1]?.trim() ?? "";
}

const tenantRequired = (config: Config): GatewayError =>
  gatewayError("tenant_required", `Say which tenant this request is for in the \`${config.tenantHeader}\` header.`);
const forbidden = (): GatewayError =>
  gatewayError("tenant_forbidden", "Your credentials do not allow requests for this tenant.");
