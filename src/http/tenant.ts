import { createHash } from "node:crypto";
import type { GatewayError } from "../protocol/errors.ts";
import type { Result } from "../protocol/result.ts";
import { authenticate } from "../tenants/authenticate.ts";
import type { Config, Tenant } from "../tenants/config.ts";

/** Who a request is from. The synchronous hash is the cheap one: WebCrypto's costs a turn of the event loop. */
export function tenantOf(request: Request, config: Config): Result<Tenant, GatewayError> {
  const { headers } = request;
  const claim = {
    tenant: headers.get(config.tenantHeader),
    authorization: headers.get("authorization"),
    apiKey: headers.get("api-key"),
  };
  return authenticate(config, claim, (text) => createHash("sha256").update(text).digest("hex"));
}
