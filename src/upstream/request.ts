import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json/lossless.ts";
import { membersOf } from "../protocol/json/members.ts";
import { err, ok, type Result } from "../protocol/result.ts";
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
  readonly body: string;
}

/** Where an endpoint lies under a base URL: a bare host gets `/v1`, any other path is taken as the operator wrote it. */
export function endpointUrl(baseUrl: string, endpoint: string): string {
  const url = new URL(baseUrl);
  let path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith(endpoint)) path = path.slice(0, -endpoint.length);
  url.pathname = `${path === "" ? "/v1" : path}${endpoint}`;
  url.hash = "";
  return url.href;
}

/** `endpointUrl` for one base URL; each endpoint's URL is put together once. */
export function endpointUrls(baseUrl: string): (endpoint: string) => string {
  const urls = new Map<string, string>();
  return (endpoint) => {
    let url = urls.get(endpoint);
    if (url === undefined) urls.set(endpoint, (url = endpointUrl(baseUrl, endpoint)));
    return url;
  };
}

/**
 * The body for a target: the client's own text, but for the members that have to differ. Top-level nulls mean "the default" and are
 * left out, since some servers take them for values; what `defaults` says is filled in where the client said nothing.
 */
export function bodyFor(text: string, body: JsonObject, defaults: JsonObject, target: Target): string {
  const members = membersOf(text);
  for (const [key, value] of Object.entries(body)) if (value === null) members.set(key, undefined);
  for (const [key, value] of Object.entries(defaults)) {
    if ((body[key] === undefined || body[key] === null) && !hasSynonym(body, key))
      members.set(key, JSON.stringify(value));
  }
  if (target.model !== undefined && target.model !== body["model"]) members.set("model", JSON.stringify(target.model));
  return members.toText();
}

/** The same body, asking for its answer in one form. `clientStreams`: what the client itself asked for. */
export function askingFor(form: AskedForm, text: string, clientStreams: boolean): string {
  const asIs = form.stream ? form.options : !form.omitKey && !text.includes('"stream_options"');
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

const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_completion_tokens"],
  ["max_completion_tokens", "max_tokens"],
]);

function hasSynonym(body: JsonObject, key: string): boolean {
  const other = SYNONYMS.get(key);
  return other !== undefined && body[other] !== undefined && body[other] !== null;
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
    const { header, prefix } = target.provider.auth;
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

const credentialMissing = (): GatewayError =>
  gatewayError(
    "credential_missing",
    "The gateway has no credential for this model's upstream. This is for its operator to mend.",
  );
