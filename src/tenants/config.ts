import type { JsonObject } from "../protocol/json/lossless.ts";
import { PROVIDERS } from "../upstream/catalog.ts";
import { endpointUrls } from "../upstream/request.ts";
import type { Target } from "../upstream/target.ts";
import type { GatewayDocument, TargetDocument } from "./document.ts";
import { createPatterns, type Patterns } from "./patterns.ts";

/** What a model name leads to: the first target now, the others for later. */
export interface Route {
  readonly targets: readonly Target[];
}

export interface Tenant {
  readonly id: string;
  readonly models: Patterns<true>;
  readonly routes: Patterns<Route>;
  readonly defaults: JsonObject;
}

/** A configuration document made ready to serve requests: parsed once, looked up often. */
export interface Config {
  /** In lower case. */
  readonly tenantHeader: string;
  readonly auth: "key" | "header";
  readonly maxBodyBytes: number;
  readonly tenants: ReadonlyMap<string, Tenant>;
  /** Key hash (hex) to the tenants that the key may act for. */
  readonly keys: ReadonlyMap<string, readonly Tenant[]>;
  readonly routes: Patterns<Route>;
}

const DEFAULTS = { first_event_ms: 120_000, idle_ms: 60_000, total_ms: 600_000, keep_alive_ms: 10_000 };
const MAX_BODY_BYTES = 20 * 1024 * 1024;

export function createConfig(document: GatewayDocument): Config {
  const keys = new Map<string, Tenant[]>();
  const tenants = new Map<string, Tenant>();
  for (const [id, { keys: hashes = [], models = ["*"], routes = {}, defaults = {} }] of Object.entries(
    document.tenants,
  )) {
    const tenant: Tenant = {
      id,
      models: createPatterns(models.map((name) => [name, true])),
      routes: createRoutes(document, routes),
      defaults,
    };
    tenants.set(id, tenant);
    for (const hash of new Set(hashes)) {
      const hex = hash.slice("sha256:".length);
      keys.set(hex, [...(keys.get(hex) ?? []), tenant]);
    }
  }
  return {
    tenantHeader: (document.tenant_header ?? "x-tenant").toLowerCase(),
    auth: document.auth ?? "key",
    maxBodyBytes: document.max_body_bytes ?? MAX_BODY_BYTES,
    tenants,
    keys,
    routes: createRoutes(document, document.routes ?? {}),
  };
}

function createRoutes(document: GatewayDocument, routes: NonNullable<GatewayDocument["routes"]>): Patterns<Route> {
  return createPatterns(
    Object.entries(routes).map(([name, { targets }]) => [
      name,
      { targets: targets.map((target) => createTarget(document, target)) },
    ]),
  );
}

/** What a target says comes before what its upstream says, and that before what its provider is known for. */
function createTarget(document: GatewayDocument, target: TargetDocument): Target {
  const upstream = document.upstreams[target.upstream] as GatewayDocument["upstreams"][string];
  const provider = PROVIDERS[upstream.provider ?? "openai-compatible"];
  const first = <T>(...values: (T | undefined)[]): T | undefined => values.find((value) => value !== undefined);
  const limit = (name: keyof typeof DEFAULTS): number => first(target[name], upstream[name]) ?? DEFAULTS[name];
  const can = (name: keyof typeof provider.capabilities): boolean =>
    first(target.capabilities?.[name], upstream.capabilities?.[name]) ?? provider.capabilities[name];
  return {
    upstream: target.upstream,
    provider,
    baseUrl: upstream.base_url,
    urlOf: endpointUrls(upstream.base_url),
    model: target.model,
    credential: upstream.credential,
    headers: upstream.headers ?? {},
    binding: upstream.binding,
    preferStream: first(target.prefer_stream, upstream.prefer_stream) ?? false,
    deadlines: {
      first_event_ms: limit("first_event_ms"),
      idle_ms: limit("idle_ms"),
      total_ms: limit("total_ms"),
      keep_alive_ms: limit("keep_alive_ms"),
    },
    capabilities: { streaming: can("streaming"), streaming_with_tools: can("streaming_with_tools") },
  };
}
