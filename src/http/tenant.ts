import type { GatewayError } from "../protocol/errors.ts";
import type { Result } from "../protocol/result.ts";
import { authenticate, keyOf } from "../tenants/authenticate.ts";
import type { Config, Tenant } from "../tenants/config.ts";

/** Tells who a request is from. */
export type TenantOf = (request: Request, config: Config) => Promise<Result<Tenant, GatewayError>>;

const MAX_KEYS = 1000;

/** Made once per isolate: it remembers the digests of the keys it has let in, which cost more than all the rest of a look-up. */
export function createTenantOf(): TenantOf {
  const digests = new Map<string, string>();
  return async ({ headers }, config) => {
    const tenant = headers.get(config.tenantHeader);
    const key = config.auth === "key" ? keyOf(headers) : "";
    const digest = key === "" ? "" : (digests.get(key) ?? (await sha256(key)));
    if (config.keys.has(digest) && digests.size < MAX_KEYS) digests.set(key, digest);
    return authenticate(config, tenant, digest);
  };
}

/** The hex digits of a text's SHA-256. */
async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
