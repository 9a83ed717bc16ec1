import type { JsonObject } from "../protocol/json/lossless.ts";
import { PROVIDERS } from "../upstream/catalog.ts";
import { endpointUrls } from "../upstream/request.ts";
import type { Capabilities, Ranges } from "../upstream/provider.ts";
import { cacheSaltOf } from "../upstream/shaping/cache-salt.ts";
import type { Target } from "../upstream/target.ts";
import { traitsOf } from "../upstream/templated.ts";
import type { GatewayDocument, TargetDocument } from "./document.ts";
import { createPatterns, type Patterns } from "./patterns.ts";

/** What a model name leads to: the first target now, the others for later. */
export interface Route {
  readonly targets: readonly Target[];
  /** Which model name answers carry: that of the model which answered, or the requested one. */
  readonly reportModel: "answered" | "requested";
}

export interface Tenant {
  readonly id: string;
  readonly models: Patterns<true>;
  readonly routes: Patterns<Route>;
  readonly defaults: JsonObject;
  /** In which members the thoughts of a model are written; `as_sent` leaves them where the upstream has put them. */
  readonly reasoningFields: "both" | "as_sent" | "reasoning_content" | "reasoning";
  /** May use members of a request that reach beyond it. */
  readonly privileged: boolean;
  /** What keeps its prefix cache apart from those of others, where a server can. */
  readonly cacheSalt: string;
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
  for (const [id, { keys: hashes = [], models = ["*"], routes = {}, defaults = {}, ...own }] of Object.entries(
    document.tenants,
  )) {
    const tenant: Tenant = {
      id,
      models: createPatterns(models.map((name) => [name, true])),
      routes: createRoutes(document, routes),
      defaults,
      reasoningFields: own.reasoning_fields ?? "both",
      privileged: own.privileged ?? false,
      cacheSalt: cacheSaltOf(id),
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
    Object.entries(routes).map(([name, { targets, report_model = "answered" }]) => [
      name,
      { targets: targets.map((target) => createTarget(document, target)), reportModel: report_model },
    ]),
  );
}

/** What a target says comes before what its upstream says, and that before what its provider is known for. */
function createTarget(document: GatewayDocument, target: TargetDocument): Target {
  const upstream = document.upstreams[target.upstream] as GatewayDocument["upstreams"][string];
  const provider = PROVIDERS[upstream.provider ?? "openai-compatible"];
  const first = <T>(...values: (T | undefined)[]): T | undefined => values.find((value) => value !== undefined);
  const limit = (name: keyof typeof DEFAULTS): number => first(target[name], upstream[name]) ?? DEFAULTS[name];
  const template = first(target.template, upstream.template) ?? "none";
  const traits = traitsOf(template);
  const baseUrl = upstream.base_url ?? provider.baseUrl ?? "https://binding.invalid/v1";
  return {
    upstream: target.upstream,
    provider,
    baseUrl,
    urlOf: endpointUrls(baseUrl, provider, target.model),
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
    capabilities: {
      ...capabilitiesOf(provider.capabilities, upstream.capabilities, target.capabilities),
      ...traits.capabilities,
    },
    text: {
      tools: first(target.text?.tools, upstream.text?.tools) ?? traits.tools,
      reasoning: first(target.text?.reasoning, upstream.text?.reasoning) ?? "none",
    },
    template,
    unsupported: first(target.unsupported, upstream.unsupported) ?? "refuse",
    imageHosts: first(target.image_hosts, upstream.image_hosts),
  };
}

type Overrides = NonNullable<TargetDocument["capabilities"]>;

/** Name by name; of `ranges`, number by number. */
function capabilitiesOf(known: Capabilities, ...overrides: readonly (Overrides | undefined)[]): Capabilities {
  let all: Capabilities = known;
  for (const { ranges, ...more } of overrides.filter((one) => one !== undefined)) {
    all = { ...all, ...(more as Partial<Capabilities>), ranges: { ...all.ranges, ...(ranges as Ranges | undefined) } };
  }
  return all;
}
