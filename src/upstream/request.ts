import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { membersOf } from "../protocol/json/members.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { BEARER, type Provider } from "./provider.ts";
import type { Target } from "./target.ts";

/** In which form an upstream is asked for its answer. */
export interface AskedForm {
  readonly stream: boolean;
  /** Leave the `stream` key out: some servers refuse the key itself. */
  readonly omitKey: boolean;
  /** Send `stream_options`, if there is reason to. */
  readonly options: boolean;
}

export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | ReadableStream<Uint8Array>;
}

/** How a provider puts its URLs together. */
export type UrlPlan = Pick<Provider, "basePath" | "query" | "rootEndpoints">;

const PLAIN: UrlPlan = { basePath: "/v1", query: {}, rootEndpoints: [] };

/** Where an endpoint lies under a base URL: a bare host gets its provider's path, any other path is taken as the operator wrote it. */
export function endpointUrl(baseUrl: string, endpoint: string, plan: UrlPlan = PLAIN, model = ""): string {
  const url = new URL(baseUrl);
  let path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith(endpoint)) path = path.slice(0, -endpoint.length);
  if (path === "") path = plan.basePath.replace("{model}", encodeURIComponent(model));
  if ((plan.rootEndpoints as readonly string[]).includes(endpoint)) path = path.replace(/\/v1$/, "");
  url.pathname = path + endpoint;
  for (const [name, value] of Object.entries(plan.query)) {
    // An API that has its version in the path has none in the query.
    if (!url.searchParams.has(name) && !path.endsWith("/v1")) url.searchParams.set(name, value);
  }
  url.hash = "";
  return url.href;
}

/** `endpointUrl` for one base URL; each endpoint's URL is put together once. @param known the model's name there, if it is always the same */
export function endpointUrls(
  baseUrl: string,
  plan: UrlPlan = PLAIN,
  known?: string,
): (endpoint: string, model?: string) => string {
  const urls = new Map<string, string>();
  const open = known === undefined && plan.basePath.includes("{model}");
  return (endpoint, model) => {
    if (open) return endpointUrl(baseUrl, endpoint, plan, model);
    let url = urls.get(endpoint);
    if (url === undefined) urls.set(endpoint, (url = endpointUrl(baseUrl, endpoint, plan, known)));
    return url;
  };
}

/** A shaped body, asking for its answer in one form. `clientStreams`: what the client itself asked for. */
export function askingFor(form: AskedForm, text: string, clientStreams: boolean): string {
  // A key may be spelled with escapes.
  const asIs = form.stream ? form.options : !form.omitKey && !/"stream_options"|\\u/.test(text);
  if (form.stream === clientStreams && asIs) return text;
  const members = membersOf(text);
  if (form.stream) {
    if (!clientStreams) members.set("stream", "true");
    if (!form.options) members.set("stream_options", undefined);
    // A client that wants JSON wants the usage in it; a stream tells it only when asked.
    else if (!clientStreams) members.set("stream_options", '{"include_usage":true}');
  } else {
    members.set("stream_options", undefined);
    if (form.omitKey) members.set("stream", undefined);
    else if (clientStreams) members.set("stream", "false");
  }
  return members.toText();
}

/**
 * The headers of an upstream request, by allow list: nothing of the client's goes along, its credentials, cookies, addresses and
 * idempotency key (which would name another body) least of all. @param secretOf the value of a secret, by name
 */
export function headersFor(
  target: Target,
  form: AskedForm,
  requestId: string,
  secretOf: (name: string) => string | undefined,
): Result<Record<string, string>, GatewayError> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: form.stream ? "text/event-stream" : "application/json",
    "user-agent": "sluice",
    "x-request-id": requestId,
  };
  // A compressed stream comes in bursts.
  if (form.stream) headers["accept-encoding"] = "identity";
  const secrets = Object.entries(target.headers);
  if (target.credential !== undefined) {
    const { header, prefix } = target.provider.auth ?? BEARER;
    const value = secretOf(target.credential);
    if (value === undefined) return err(credentialMissing());
    headers[header] = prefix + value;
  }
  for (const [name, value] of secrets) {
    const text = typeof value === "string" ? value : secretOf(value.secret);
    if (text === undefined) return err(credentialMissing());
    headers[name.toLowerCase()] = text;
  }
  return ok(headers);
}

/** The values that prove to the target who we are: they must not come back in what it says. */
export function secretsOf(target: Target, secretOf: (name: string) => string | undefined): string[] {
  const values = Object.values(target.headers).map((value) =>
    typeof value === "string" ? value : secretOf(value.secret),
  );
  if (target.credential !== undefined) values.push(secretOf(target.credential));
  return values.filter((value) => value !== undefined);
}

const credentialMissing = (): GatewayError =>
  gatewayError(
    "credential_missing",
    "The gateway has no credential for this model's upstream. This is for its operator to mend.",
  );
