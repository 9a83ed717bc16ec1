import type { Config } from "../tenants/config.ts";

/** What Hono hands to every middleware and route. */
export interface AppEnvironment {
  Bindings: Record<string, unknown>;
  Variables: {
    requestId: string;
    config: Config;
    /** The response says its request id itself. */
    isNamed?: boolean;
  };
}
