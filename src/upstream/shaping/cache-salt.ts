import { createHash } from "node:crypto";
import type { Rule } from "./draft.ts";

const digest = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

/** A tenant's own salt. It need not be a secret: no client can send a salt as it is. */
export const cacheSaltOf = (tenant: string): string => digest("tenant", tenant);

/** With one prefix cache for all, a tenant could find out by the clock what others have asked. */
export const cacheSalt: Rule = {
  name: "cache-salt",
  apply(draft) {
    if (!draft.target.capabilities.cache_salt) return undefined;
    const own = draft.get("cache_salt");
    if (typeof own === "string" && own !== "")
      draft.set("cache_salt", digest(draft.tenant.cacheSalt, own), "~cache_salt");
    else draft.set("cache_salt", draft.tenant.cacheSalt, "+cache_salt");
    return undefined;
  },
};
