import type { Context } from "hono";
import type { ListedModel, ModelLists } from "../../gateway/model-lists.ts";
import type { Ports } from "../../gateway/ports.ts";
import type { Config, Route, Tenant } from "../../tenants/config.ts";
import { modelNames, routeOf } from "../../tenants/models.ts";
import { modelNotFound } from "../../upstream/failure.ts";
import { portsOf } from "../asked.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

// When a model was made is not known here; the field has to be a number, and has to stay the same.
const cardOf = (id: string, length: number | undefined): object => ({
  id,
  object: "model",
  created: 0,
  owned_by: "sluice",
  ...(length === undefined ? {} : { max_model_len: length }),
});

/** `GET /v1/models`: the names that this tenant may ask for, those behind a route `name*` as far as its upstream has told them. */
export const listModels =
  (tenantOf: TenantOf, lists: ModelLists) =>
  async (c: Context<AppEnvironment>): Promise<Response> => {
    const config = c.get("config");
    const tenant = await tenantOf(c.req.raw, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    const ports = portsOf(c);
    const open = openRoutes(config, tenant.value).flatMap(({ targets }) => targets.slice(0, 1));
    await Promise.all(open.map((target) => lists.first(target, ports)));
    const names = new Set([...modelNames(config, tenant.value), ...openNames(config, tenant.value, lists, ports)]);
    const data = [...names].sort().map((id) => cardOf(id, lengthOf(config, tenant.value, id, lists, ports)));
    return Response.json({ object: "list", data });
  };

/** `GET /v1/models/{id}`, also for ids with slashes, encoded or not. */
export const showModel =
  (tenantOf: TenantOf, lists: ModelLists) =>
  async (c: Context<AppEnvironment>): Promise<Response> => {
    const config = c.get("config");
    const tenant = await tenantOf(c.req.raw, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    const id = c.req.param("id") ?? "";
    const known = routeOf(config, tenant.value, id) !== undefined;
    if (!known) return errorResponse(modelNotFound(id));
    return Response.json(cardOf(id, lengthOf(config, tenant.value, id, lists, portsOf(c))));
  };

const modelsBehind = (route: Route, lists: ModelLists, ports: Ports): readonly ListedModel[] => {
  const [target] = route.targets;
  return target === undefined ? [] : lists.of(target, ports);
};

/** The routes that lead to models by the upstream's own names. With a model of its own, all names of a route mean the same. */
const openRoutes = (config: Config, tenant: Tenant): Route[] =>
  [...tenant.routes.open, ...config.routes.open].filter(({ targets }) => targets[0]?.model === undefined);

/** The upstreams' own names that a tenant may ask for and that lead to where they are from: adapters too. */
function openNames(config: Config, tenant: Tenant, lists: ModelLists, ports: Ports): string[] {
  return openRoutes(config, tenant).flatMap((route) =>
    modelsBehind(route, lists, ports)
      .map(({ id }) => id)
      .filter((id) => routeOf(config, tenant, id) === route),
  );
}

function lengthOf(config: Config, tenant: Tenant, id: string, lists: ModelLists, ports: Ports): number | undefined {
  const route = routeOf(config, tenant, id);
  const there = route?.targets[0]?.model ?? id;
  if (route === undefined) return undefined;
  return modelsBehind(route, lists, ports).find((model) => model.id === there)?.maxModelLength;
}
