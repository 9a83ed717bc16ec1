/** The `error` object of OpenAI's wire format: all four members, always. */
export interface WireError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** An error on its way to the client: what it reads, the HTTP status (if that can still be said) and headers to go with it. */
export interface GatewayError {
  readonly status: number;
  readonly error: WireError;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ErrorRow {
  readonly status: number;
  readonly type:
    "invalid_request_error" | "authentication_error" | "permission_error" | "server_error" | "upstream_error";
}

/**
 * THE error table: every error of our own. A code never changes and never gets a second meaning; README explains each.
 * `upstream_error` types are the fault of what stands behind us, `server_error` ours or the operator's, the rest the client's.
 */
export const ERRORS = {
  invalid_json: { status: 400, type: "invalid_request_error" },
  invalid_type: { status: 400, type: "invalid_request_error" },
  invalid_value: { status: 400, type: "invalid_request_error" },
  unsupported_parameter: { status: 400, type: "invalid_request_error" },
  privileged_parameter: { status: 400, type: "invalid_request_error" },
  invalid_image_url: { status: 400, type: "invalid_request_error" },
  missing_required_parameter: { status: 400, type: "invalid_request_error" },
  tenant_required: { status: 400, type: "invalid_request_error" },
  missing_api_key: { status: 401, type: "authentication_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  tenant_forbidden: { status: 403, type: "permission_error" },
  model_not_found: { status: 404, type: "invalid_request_error" },
  not_found: { status: 404, type: "invalid_request_error" },
  endpoint_not_supported: { status: 404, type: "invalid_request_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  body_too_large: { status: 413, type: "invalid_request_error" },
  unsupported_content_encoding: { status: 415, type: "invalid_request_error" },
  client_closed_request: { status: 499, type: "invalid_request_error" },
  internal_error: { status: 500, type: "server_error" },
  gateway_not_configured: { status: 503, type: "server_error" },
  credential_missing: { status: 502, type: "server_error" },
  binding_missing: { status: 502, type: "server_error" },
  template_failed: { status: 502, type: "server_error" },
  upstream_unauthorized: { status: 502, type: "upstream_error" },
  upstream_model_not_found: { status: 502, type: "upstream_error" },
  upstream_redirect: { status: 502, type: "upstream_error" },
  upstream_unreachable: { status: 502, type: "upstream_error" },
  upstream_timeout: { status: 504, type: "upstream_error" },
  upstream_cut: { status: 502, type: "upstream_error" },
  upstream_invalid: { status: 502, type: "upstream_error" },
  upstream_failed: { status: 502, type: "upstream_error" },
  upstream_too_large: { status: 502, type: "upstream_error" },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export const isOwnCode = (code: string | null): code is ErrorCode => code !== null && Object.hasOwn(ERRORS, code);

/** An error of our own. `message` must be safe for every tenant: no prompt, no key, no host, no upstream text. */
export function gatewayError(code: ErrorCode, message: string, param: string | null = null): GatewayError {
  const { status, type } = ERRORS[code];
  return { status, error: { message, type, param, code } };
}
