import type { Config, Route, Tenant } from "./config.ts";

/** The route of a model name for a tenant; undefined whether there is none or the tenant may not use it. */
export function routeOf(config: Config, tenant: Tenant, model: string): Route | undefined {
  if (tenant.models.find(model) === undefined) return undefined;
  return tenant.routes.find(model) ?? config.routes.find(model);
}

/** The names that a tenant can be told: those it may use, of routes and of its own list; a `*` names nothing. */
export function modelNames(config: Config, tenant: Tenant): string[] {
  const names = new Set([...tenant.routes.exact, ...config.routes.exact, ...tenant.models.exact]);
  return [...names].filter((name) => routeOf(config, tenant, name) !== undefined).sort();
}
