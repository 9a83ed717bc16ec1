import { createHash } from "node:crypto";
import type { GatewayError } from "../protocol/errors.ts";
import type { Result } from "../protocol/result.ts";
import { authenticate } from "../tenants/authenticate.ts";
import type { Config, Tenant } from "../tenants/config.ts";

/** Tells who a request is from. */
export type TenantOf = (request: Request, config: Config) => Result<Tenant, GatewayError>;

const MAX_KEYS = 1000;

/** Made once per isolate: it remembers the digests of the keys it has let in, which cost more than all the rest of a look-up. */
export function createTenantOf(): TenantOf {
  const digests = new Map<string, string>();
  const sha256 = (text: string): string => digests.get(text) ?? createHash("sha256").update(text).digest("hex");
  return ({ headers }, config) => {
    const authorization = headers.get("authorization");
    const claim = { tenant: headers.get(config.tenantHeader), authorization, apiKey: headers.get("api-key") };
    const tenant = authenticate(config, claim, (text) => {
      const digest = sha256(text);
      if (config.keys.has(digest) && digests.size < MAX_KEYS) digests.set(text, digest);
      return digest;
    });
    return tenant;
  };
}
