import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { Config, Tenant } from "./config.ts";

/** What a request says about who sends it. Null: the header is absent. */
export interface Claim {
  readonly tenant: string | null;
  readonly authorization: string | null;
  readonly apiKey: string | null;
}

/** The header names the tenant, the key proves it. Tells nobody which tenants there are. @param sha256 hex digest of a text */
export function authenticate(
  config: Config,
  claim: Claim,
  sha256: (text: string) => string,
): Result<Tenant, GatewayError> {
  const name = claim.tenant?.trim();
  if (name === "") return err(tenantRequired(config));
  if (config.auth === "header") {
    if (name === undefined) return err(tenantRequired(config));
    const tenant = config.tenants.get(name);
    return tenant === undefined ? err(forbidden()) : ok(tenant);
  }
  const key = keyOf(claim);
  if (key === "") {
    return err(
      gatewayError(
        "missing_api_key",
        "You didn't provide an API key. Send it in an Authorization header: `Authorization: Bearer YOUR_KEY`.",
      ),
    );
  }
  const tenants = config.keys.get(sha256(key));
  if (tenants === undefined) return err(gatewayError("invalid_api_key", "Incorrect API key provided."));
  if (name === undefined) {
    const [only] = tenants;
    return only !== undefined && tenants.length === 1 ? ok(only) : err(tenantRequired(config));
  }
  const tenant = tenants.find(({ id }) => id === name);
  return tenant === undefined ? err(forbidden()) : ok(tenant);
}

function keyOf({ authorization, apiKey }: Claim): string {
  if (authorization === null) return apiKey?.trim() ?? "";
  return /^bearer\s+(.*)$/i.exec(authorization)?.[1]?.trim() ?? "";
}

const tenantRequired = (config: Config): GatewayError =>
  gatewayError("tenant_required", `Say which tenant this request is for in the \`${config.tenantHeader}\` header.`);
const forbidden = (): GatewayError =>
  gatewayError("tenant_forbidden", "Your credentials do not allow requests for this tenant.");
