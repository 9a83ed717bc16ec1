import * as z from "zod/mini";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { isReasoningFamily, isToolFamily } from "../protocol/text/family-names.ts";
import { PROVIDERS, type ProviderId } from "../upstream/catalog.ts";
import { CHOICES, RANGED, SWITCHES } from "../upstream/provider.ts";

const TEMPLATES = ["none", "llama3", "chatml"];
const MAX_TEMPLATE_LENGTH = 256 * 1024;

const text = (form: RegExp, message: string): z.ZodMiniString => z.string().check(z.regex(form, message));

// The names of secrets and bindings. Not those of the configuration itself: a credential must never be able to send it anywhere.
const RESERVED = new Set(["GATEWAY", "CONFIG"]);
const bindingName = text(
  /^[A-Za-z_][A-Za-z0-9_]*$/,
  "must be the NAME of a secret or binding (letters, digits, _), never a value",
).check(z.refine((name) => !RESERVED.has(name), "must not name the configuration itself"));

const milliseconds = z.int().check(z.minimum(1), z.maximum(24 * 60 * 60 * 1000));
const deadlines = {
  first_event_ms: z.optional(milliseconds),
  idle_ms: z.optional(milliseconds),
  total_ms: z.optional(milliseconds),
  keep_alive_ms: z.optional(milliseconds),
};

const mapValues = <K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> =>
  Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, V>;

const range = z.strictObject({
  min: z.optional(z.number()),
  above: z.optional(z.number()),
  max: z.optional(z.number()),
});
const ranges = z.strictObject(mapValues(RANGED, () => z.optional(range)));
const capabilities = z.strictObject({
  ...mapValues(SWITCHES, () => z.optional(z.boolean())),
  max_tokens: z.optional(z.enum(CHOICES.max_tokens)),
  instruction_role: z.optional(z.enum(CHOICES.instruction_role)),
  constraints: z.optional(z.enum(CHOICES.constraints)),
  top_k_off: z.optional(z.enum(CHOICES.top_k_off)),
  greedy: z.optional(z.enum(CHOICES.greedy)),
  seed: z.optional(z.enum(CHOICES.seed)),
  repetition_penalty: z.optional(z.enum(CHOICES.repetition_penalty)),
  tool_call_ids: z.optional(z.enum(CHOICES.tool_call_ids)),
  reasoning_history: z.optional(z.enum(CHOICES.reasoning_history)),
  continuation: z.optional(z.enum(CHOICES.continuation)),
  embedding_inputs: z.optional(z.int().check(z.minimum(1))),
  ranges: z.optional(ranges),
});

const family = (known: (name: string) => boolean): z.ZodMiniString =>
  z
    .string()
    .check(
      z.refine(
        (name) => name === "none" || name === "auto" || known(name),
        "must be none, auto or the name of a family",
      ),
    );
// What has no brace in it is a name.
const template = z.string().check(
  z.maxLength(MAX_TEMPLATE_LENGTH, `must have at most ${MAX_TEMPLATE_LENGTH / 1024} KiB`),
  z.refine(
    (value) => value.includes("{") || TEMPLATES.includes(value),
    `must be ${TEMPLATES.join(", ")} or Jinja text`,
  ),
);
const dialect = {
  text: z.optional(
    z.strictObject({
      tools: z.optional(family(isToolFamily)),
      reasoning: z.optional(family(isReasoningFamily)),
    }),
  ),
  template: z.optional(template),
  unsupported: z.optional(z.enum(["refuse", "drop"])),
  image_hosts: z.optional(z.array(text(/^[a-z0-9.-]+$/, "must be a host name in lower case"))),
};

// What the gateway sets itself, or what belongs to one connection.
const OWN_HEADERS = new Set([
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "accept-encoding",
]);
const headerName = text(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be a header name").check(
  z.refine((name) => !OWN_HEADERS.has(name.toLowerCase()), "must not be a header that the gateway sets itself"),
);
const headerValue = z.union([
  text(/^[\t\x20-\x7e]*$/, "must be printable text in one line"),
  z.strictObject({ secret: bindingName }),
]);

const parseUrl = (value: string): URL | undefined => (URL.canParse(value) ? new URL(value) : undefined);
const baseUrl = z.string().check(
  z.refine((value) => /^https?:$/.test(parseUrl(value)?.protocol ?? ""), {
    error: "must be an http or https URL",
    abort: true,
  }),
  z.refine(
    (value) => parseUrl(value)?.username === "" && parseUrl(value)?.password === "",
    "must not carry credentials: name a secret in `credential`",
  ),
);

const upstream = z.strictObject({
  provider: z.optional(z.enum(Object.keys(PROVIDERS) as [ProviderId, ...ProviderId[]])),
  base_url: z.optional(baseUrl),
  credential: z.optional(bindingName),
  headers: z.optional(z.record(headerName, headerValue)),
  binding: z.optional(bindingName),
  prefer_stream: z.optional(z.boolean()),
  ...deadlines,
  ...dialect,
  capabilities: z.optional(capabilities),
});

const target = z.strictObject({
  upstream: z.string(),
  model: z.optional(z.string().check(z.minLength(1, "must not be empty"))),
  prefer_stream: z.optional(z.boolean()),
  ...deadlines,
  ...dialect,
  capabilities: z.optional(capabilities),
});

/** A model name, or the beginning of one and `*`. */
const pattern = text(/^(?:[^*]+\*?|\*)$/, "must be a name, or the beginning of one and a single * at its end");
const routes = z.record(
  pattern,
  z.strictObject({
    targets: z.array(target).check(z.minLength(1, "must name at least one target")),
    report_model: z.optional(z.enum(["answered", "requested"])),
  }),
);
const id = z.string().check(z.minLength(1, "must not be empty"));

const tenant = z.strictObject({
  keys: z.optional(
    z.array(text(/^sha256:[0-9a-f]{64}$/, "must be sha256: and the 64 hex digits of the key's SHA-256")),
  ),
  models: z.optional(z.array(pattern)),
  routes: z.optional(routes),
  defaults: z.optional(z.record(z.string(), z.unknown())),
  reasoning_fields: z.optional(z.enum(["both", "as_sent", "reasoning_content", "reasoning"])),
  privileged: z.optional(z.boolean()),
});

const schema = z.strictObject({
  tenant_header: z.optional(text(/^[A-Za-z0-9-]+$/, "must be a header name")),
  auth: z.optional(z.enum(["key", "header"])),
  max_body_bytes: z.optional(z.int().check(z.minimum(1), z.maximum(100 * 1024 * 1024))),
  upstreams: z.record(id, upstream),
  routes: z.optional(routes),
  tenants: z.record(id, tenant),
});

export type GatewayDocument = z.infer<typeof schema>;
export type TargetDocument = z.infer<typeof target>;

const MOST_FAULTS = 20;

/** Checks a configuration document. Errors name the path and the fault, and never quote a value: there may be a key in it. */
export function parseDocument(
  value: unknown,
): { readonly document: GatewayDocument } | { readonly faults: readonly string[] } {
  const result = schema.safeParse(value);
  if (!result.success)
    return { faults: result.error.issues.slice(0, MOST_FAULTS).flatMap(faultsOf).slice(0, MOST_FAULTS) };
  const faults = [...protoNames(value), ...missingBaseUrls(result.data), ...unknownUpstreams(result.data)].slice(
    0,
    MOST_FAULTS,
  );
  return faults.length > 0 ? { faults } : { document: result.data };
}

function faultsOf(issue: z.core.$ZodIssue): string[] {
  const at = pathOf(issue.path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => `${at === "" ? "" : `${at}.`}${key}: unknown name`);
    case "invalid_type":
      return [`${at}: must be ${issue.expected}`];
    case "invalid_value":
      return [`${at}: must be one of ${issue.values.map(String).join(", ")}`];
    case "invalid_union":
      return [`${at}: must be text or {"secret": "NAME"}`];
    case "too_small":
      return [
        `${at}: ${issue.origin === "array" || issue.origin === "string" ? issue.message : `must be at least ${issue.minimum}`}`,
      ];
    case "too_big":
      return [`${at}: ${issue.origin === "string" ? issue.message : `must be at most ${issue.maximum}`}`];
    case "invalid_key":
      return [`${at}: ${issue.issues[0]?.message ?? "is not a valid name"}`];
    default:
      return [`${at}: ${issue.message}`];
  }
}

function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i === 0 ? "" : "."}${String(step)}`))
    .join("");
}

/** The one name that an object cannot have like any other: what goes by it would be dropped without a word. */
function protoNames(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const path = Array.isArray(value) ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`;
    return key === "__proto__" ? [`${path}: not a valid name`] : protoNames((value as JsonObject)[key], path);
  });
}

/** A base URL can be left out where the provider has one, or where a binding leads to it. */
function missingBaseUrls({ upstreams }: GatewayDocument): string[] {
  return Object.entries(upstreams).flatMap(([name, { provider = "openai-compatible", base_url, binding }]) =>
    base_url !== undefined || PROVIDERS[provider].baseUrl !== undefined || binding !== undefined
      ? []
      : [`upstreams.${name}.base_url: must be string`],
  );
}

function unknownUpstreams({ upstreams, routes: shared = {}, tenants }: GatewayDocument): string[] {
  const scopes: [string, z.infer<typeof routes>][] = [["routes", shared]];
  for (const [id, { routes: own }] of Object.entries(tenants))
    if (own !== undefined) scopes.push([`tenants.${id}.routes`, own]);
  return scopes.flatMap(([scope, list]) =>
    Object.entries(list).flatMap(([name, route]) =>
      route.targets.flatMap(({ upstream }, i) =>
        Object.hasOwn(upstreams, upstream)
          ? []
          : [`${scope}.${name}.targets[${i}].upstream: there is no such upstream`],
      ),
    ),
  );
}
