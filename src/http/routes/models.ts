import type { Context } from "hono";
import { modelNames, routeOf } from "../../tenants/models.ts";
import { modelNotFound } from "../../upstream/failure.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

// When a model was made is not known here; the field has to be a number, and has to stay the same.
const cardOf = (id: string): object => ({ id, object: "model", created: 0, owned_by: "sluice" });

/** `GET /v1/models`: the names that this tenant may ask for. */
export const listModels =
  (tenantOf: TenantOf) =>
  async (c: Context<AppEnvironment>): Promise<Response> => {
    const { config } = c.var;
    const tenant = await tenantOf(c.req.raw, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    return Response.json({ object: "list", data: modelNames(config, tenant.value).map(cardOf) });
  };

/** `GET /v1/models/{id}`, also for ids with slashes, encoded or not. */
export const showModel =
  (tenantOf: TenantOf) =>
  async (c: Context<AppEnvironment>): Promise<Response> => {
    const { config } = c.var;
    const tenant = await tenantOf(c.req.raw, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    const id = c.req.param("id") ?? "";
    const known = routeOf(config, tenant.value, id) !== undefined;
    return known ? Response.json(cardOf(id)) : errorResponse(modelNotFound(id));
  };
