import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import type { Failure } from "../protocol/chat/part.ts";
import { isUnknownModel, refusesCredential, toGatewayError } from "../protocol/upstream-error.ts";
import { hostOf, type Target } from "./target.ts";

const KEPT_HEADERS = ["retry-after", "retry-after-ms", "x-should-retry", "openai-processing-ms"];

/** The response headers of an upstream that a client may see. */
export function keptHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name.startsWith("x-ratelimit-") || KEPT_HEADERS.includes(name)) kept[name] = value;
  });
  return kept;
}

const ON_SUCCESS = ["x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens"];

/** The same for an answer. Nearly no server sends one of these, and going through all headers costs as much as the rest of them. */
export function keptOnSuccess(headers: Headers): Record<string, string> {
  return ON_SUCCESS.some((name) => headers.has(name)) ? keptHeaders(headers) : {};
}

/**
 * A failure as the tenant may read it: what the upstream holds against the gateway (its key, the model name that the operator
 * set, a redirect) is the operator's fault and not the client's 401 or 404. @param secrets what was sent to it to prove who we are @param reportedModel the
 * name that stands for the upstream's own, which then may not show
 */
export function errorFor(
  { error, report }: Failure,
  target: Target,
  requestedModel: string,
  secrets: readonly string[],
  reportedModel?: string,
): GatewayError {
  if (report === undefined) return error;
  const { status } = report;
  if (status !== undefined && status >= 300 && status < 400) {
    return gatewayError("upstream_redirect", "The upstream answered with a redirect, which is not followed.");
  }
  if (refusesCredential(report)) {
    return gatewayError(
      "upstream_unauthorized",
      "The upstream does not accept the gateway's credential. This is for the gateway's operator to mend.",
    );
  }
  // What a web framework says of a path that it does not know: the path is the gateway's, not the client's.
  if (status === 404 && report.code === null && /^not found\.?$/i.test(report.message)) {
    return gatewayError(
      "endpoint_not_supported",
      "The upstream of this model does not serve this endpoint (Not Found).",
    );
  }
  if (isUnknownModel(report)) {
    return target.model === undefined
      ? modelNotFound(requestedModel)
      : gatewayError(
          "upstream_model_not_found",
          "The upstream does not serve the model that this name is routed to. This is for the gateway's operator to mend.",
        );
  }
  const shaped = toGatewayError(report, { host: hostOf(target), secrets, renamed: renamedTo(target, reportedModel) });
  return error.headers === undefined ? shaped : { ...shaped, headers: error.headers };
}

const renamedTo = ({ model }: Target, to: string | undefined): { from: string; to: string } | undefined =>
  model === undefined || to === undefined ? undefined : { from: model, to };

/** The same words for a model that does not exist and one that the tenant may not use: a tenant cannot find out which. */
export function modelNotFound(model: string): GatewayError {
  return gatewayError(
    "model_not_found",
    `The model \`${model.slice(0, 200)}\` does not exist or you do not have access to it.`,
    "model",
  );
}
