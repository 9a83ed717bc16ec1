import type { Context } from "hono";
import { passThrough } from "../../gateway/pass-through.ts";
import { openUpload } from "../../gateway/upload.ts";
import { gatewayError, type GatewayError } from "../../protocol/errors.ts";
import { boundaryOf } from "../../protocol/multipart/model-part.ts";
import { portsOf, routedTo } from "../asked.ts";
import { drain } from "../body.ts";
import type { AppEnvironment } from "../environment.ts";
import { errorResponse } from "../respond.ts";
import type { TenantOf } from "../tenant.ts";

/** OpenAI's own limit for a file of sound. */
const MOST_HELD = 25 * 1024 * 1024;

/** `POST /v1/audio/transcriptions` and `/translations`: a multipart form that streams on as soon as its model is known. */
export function transcriptions(
  endpoint: "/audio/transcriptions" | "/audio/translations",
  tenantOf: TenantOf,
): (c: Context<AppEnvironment>) => Promise<Response> {
  return async (c) => {
    const request = c.req.raw;
    const config = c.get("config");
    const requestId = c.get("requestId");
    const tenant = await tenantOf(request, config);
    if (!tenant.ok) return errorResponse(tenant.error);
    const contentType = request.headers.get("content-type");
    const boundary = boundaryOf(contentType);
    if (boundary === undefined || contentType === null || request.body === null) return errorResponse(NO_FORM);
    if (request.headers.has("content-encoding")) return errorResponse(ENCODED);
    const upload = await openUpload(request.body, lengthOf(request), boundary, {
      held: MOST_HELD,
      total: Math.max(MOST_HELD, config.maxBodyBytes),
    });
    if (!upload.ok) return refused(upload.error, drain(request));
    const { model } = upload.value;
    const routed = routedTo(c, tenant.value, endpoint, model);
    if (!routed.ok) {
      upload.value.release();
      return refused(routed.error, drain(request));
    }
    const { target, reportedModel } = routed.value;

    const stop = new AbortController();
    let fault: GatewayError | undefined;
    const body = upload.value.body(target.model ?? model, (error) => {
      fault = error;
      stop.abort();
    });
    const ports = portsOf(c);
    ports.waitUntil(body.sent);
    const answer = await passThrough(
      {
        tenant: tenant.value.id,
        target,
        model,
        reportedModel,
        url: target.urlOf(endpoint, target.model ?? model),
        body: body.stream,
        contentType,
        answer: "any",
        requestId,
        calledOff: stop.signal,
        respond: (error) => errorResponse(fault ?? error),
      },
      ports,
    );
    // An upstream that has answered has read all that it wanted to.
    body.stop();
    if (answer.status >= 400) await atMost(LINGER_MS, body.sent);
    return answer;
  };
}

/** How long a refused form may take to come to its end. */
const LINGER_MS = 2000;

/** A client that is still sending when the connection ends would see that and not the answer: it is given time to finish. */
async function refused(error: GatewayError, read: Promise<void>): Promise<Response> {
  await atMost(LINGER_MS, read);
  return errorResponse(error);
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work, new Promise((settle) => (timer = setTimeout(settle, ms)))]);
  clearTimeout(timer);
}

function lengthOf({ headers }: Request): number | undefined {
  const length = headers.get("content-length");
  return length === null ? undefined : Number(length);
}

const NO_FORM = gatewayError("invalid_value", "The body of the request must be sent as multipart/form-data.");
const ENCODED = gatewayError("unsupported_content_encoding", "A form must be sent plain, without a content encoding.");
