import type { GatewayError } from "../protocol/errors.ts";

/** An error as OpenAI's clients read it. */
export function errorResponse({ status, error, headers }: GatewayError): Response {
  return Response.json({ error }, { status, ...(headers === undefined ? {} : { headers }) });
}
