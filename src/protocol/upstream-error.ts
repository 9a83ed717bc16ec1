import { ERRORS, gatewayError, type GatewayError } from "./errors.ts";
import { digitsOf, isObject } from "./json/lossless.ts";
import { redact, type Private } from "./redact.ts";

/** What an upstream said went wrong, read out of whatever shape it said it in. */
export interface UpstreamReport {
  /** The HTTP status; for an error inside a 200, the status that its body names, if any. */
  readonly status: number | undefined;
  /** For the client's eyes after `redact`; "" when the upstream gave no words. */
  readonly message: string;
  readonly type: string | undefined;
  readonly param: string | null;
  readonly code: string | null;
  /** Every text of the error, also from JSON inside a text: where a refusal may hide. */
  readonly texts: readonly string[];
}

const MAX_TEXTS = 60;
const MAX_TEXT = 4000;
const MAX_NESTING = 5;

/** @param status the HTTP status; undefined when the error came inside a 200 */
export function readReport(status: number | undefined, body: string): UpstreamReport {
  const node = parseNode(body);
  if (node === undefined) {
    const message = isMarkup(body) || /^(?:null|true|false|[\d.]+)$/.test(body.trim()) ? "" : body.trim();
    return {
      status,
      message,
      type: undefined,
      param: null,
      code: null,
      texts: message === "" ? [] : [message.slice(0, MAX_TEXT)],
    };
  }
  const faults = faultsIn(node, 0);
  const words = (key: "type" | "param" | "code"): string | null =>
    faults.find((fault) => fault[key] !== null)?.[key] ?? null;
  const deepest = faults.findLast((fault) => fault.message !== "");
  const code = words("code");
  return {
    status: status ?? statusInside(node, faults),
    message: deepest?.message ?? "",
    type: words("type") ?? undefined,
    param: words("param"),
    code: code !== null && /^[1-5]\d\d$/.test(code) ? null : code,
    texts: faults
      .flatMap((fault) => fault.texts)
      .slice(0, MAX_TEXTS)
      .map((text) => text.slice(0, MAX_TEXT)),
  };
}

interface Fault {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
  readonly texts: readonly string[];
}

const isMarkup = (text: string): boolean => /^\s*<|<\/?(?:html|body|head|center|h1|title)\b/i.test(text);

function parseNode(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? (parseNode(value) ?? { message: value }) : value;
  } catch {
    return undefined;
  }
}

/** The errors in a value, outermost first; an error that carries another one (a relay's) is followed by it. */
function faultsIn(node: unknown, depth: number): Fault[] {
  if (depth > MAX_NESTING) return [];
  if (typeof node === "string") return faultsInText(node, depth);
  if (Array.isArray(node)) return joined(node.slice(0, 20).flatMap((item) => faultsIn(item, depth + 1)));
  if (!isObject(node)) return [];
  const { error, errors, detail, message, msg, metadata, err } = node;
  const own = nothing({
    type: wordOf(node["type"]) ?? wordOf(node["error_type"]),
    param: wordOf(node["param"])?.replace(/^body\./, "") ?? paramOf(node["loc"] ?? node["path"]),
    code: codeOf(node["code"]),
    texts: [...locationOf(node["loc"]), ...listOf(node["keys"])],
  });
  const inside = [
    message,
    msg,
    detail,
    errors,
    error,
    err,
    node["issues"],
    node["error_description"],
    node["reason"],
    node["text"],
  ]
    .filter((value) => value !== undefined && value !== null && value !== "")
    .flatMap((value) => faultsIn(value, depth + 1));
  const raw = isObject(metadata) ? faultsIn(metadata["raw"], depth + 1) : [];
  // The words of this level belong to it; what hides deeper comes after.
  const [first, ...rest] = inside;
  if (first === undefined) return [own, ...raw];
  const level: Fault = {
    message: first.message,
    type: own.type ?? first.type,
    param: own.param ?? first.param,
    code: own.code ?? first.code,
    texts: [...first.texts, ...own.texts],
  };
  return [level, ...rest, ...raw];
}

const nothing = (fault: Partial<Fault>): Fault => ({
  message: "",
  type: null,
  param: null,
  code: null,
  texts: [],
  ...fault,
});

/** A text is its own message, unless it is, or ends in, the JSON of another error. */
function faultsInText(text: string, depth: number): Fault[] {
  const own = nothing({ message: text, texts: [text] });
  const brace = text.indexOf("{");
  const node = brace < 0 ? undefined : parseNode(text.slice(brace, text.lastIndexOf("}") + 1));
  const inner = isObject(node) ? faultsIn(node, depth + 1).filter((fault) => fault.message !== "") : [];
  return inner.length === 0 ? [own] : [{ ...own, message: brace === 0 ? "" : text }, ...inner];
}

/** A list of errors (validation faults) reads as one: their messages in a row, the first one's code and param. */
function joined(faults: readonly Fault[]): Fault[] {
  const [first] = faults;
  if (first === undefined) return [];
  const messages = faults.map((fault) => fault.message).filter((message) => message !== "");
  return [{ ...first, message: messages.join("; "), texts: faults.flatMap((fault) => fault.texts) }];
}

/** A word of the envelope. Python's None, written as text, is none. */
function wordOf(value: unknown): string | null {
  if (typeof value !== "string" || value === "" || /^(?:none|null|undefined|error)$/i.test(value)) return null;
  return value.slice(0, 200);
}

const codeOf = (value: unknown): string | null => wordOf(value) ?? digitsOf(value) ?? null;
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

/** `loc` of a pydantic error, `["body", "messages", 0, "role"]`, as OpenAI writes a param: `messages[0].role`. */
function paramOf(loc: unknown): string | null {
  if (!Array.isArray(loc)) return null;
  const steps = loc.filter((step) => step !== "body");
  const path = steps
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i === 0 ? "" : "."}${String(step)}`))
    .join("");
  return path === "" ? null : path.slice(0, 200);
}

const locationOf = (loc: unknown): string[] => (Array.isArray(loc) ? [loc.map(String).join(".")] : []);

function statusInside(body: unknown, faults: readonly Fault[]): number | undefined {
  const node: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body;
  const inner = isObject(node) && isObject(node["error"]) ? node["error"] : node;
  for (const holder of [inner, node]) {
    if (!isObject(holder)) continue;
    for (const key of ["code", "status", "status_code", "statusCode", "http_status_code"]) {
      const value = Number(holder[key]);
      if (Number.isInteger(value) && value >= 400 && value <= 599) return value;
    }
  }
  const words = faults.flatMap((fault) => [fault.code ?? "", fault.type ?? ""]).join(" ");
  if (/insufficient_quota|rate_limit|too_many_requests|quota_exceeded/i.test(words)) return 429;
  if (/overloaded|unavailable/i.test(words)) return 503;
  if (/validation/i.test(words)) return 422;
  if (/invalid_request|invalid_parameter|context_length|BadRequest|unsupported_value/i.test(words)) return 400;
  return undefined;
}

const CONTEXT_OVERFLOW =
  /maximum context length|context length is only|longer than the maximum model length|context (?:size|window|length) (?:exceeded|limit)|exceeds? (?:the )?(?:available |maximum )?context|exceed_context_size|prompt is too long|max_tokens' or 'max_completion_tokens' is too large|max_model_len|input is too long/i;
const UNKNOWN_MODEL =
  /\bmodel\b(?:[^.]|\.(?=\S)){0,200}?\b(?:does not exist|not found|not available|unknown)|unknown model|no such model|model_not_found/i;

/** Whether the upstream says that it does not know the model that it was asked for. */
export function isUnknownModel(report: UpstreamReport): boolean {
  if (report.status !== 404 && report.code !== "model_not_found") return false;
  return report.code === "model_not_found" || report.texts.some((text) => UNKNOWN_MODEL.test(text));
}

const OUR_KEY =
  /^(?:in(?:valid|correct)_(?:api_)?(?:key|authentication|credentials?)|authentication_error|unauthorized|invalid_x_api_key)$/i;

/** Whether the upstream does not accept the credential that it was sent: the gateway's, never the client's. */
export function refusesCredential({ status, type, code }: UpstreamReport): boolean {
  return status === 401 || status === 403 || OUR_KEY.test(code ?? "") || OUR_KEY.test(type ?? "");
}

/** The error as the client reads it. @param hidden what of the upstream must not show */
export function toGatewayError(report: UpstreamReport, hidden?: Private): GatewayError {
  const status = statusFor(report.status);
  const overflow = status < 500 && [report.type ?? "", ...report.texts].some((text) => CONTEXT_OVERFLOW.test(text));
  const code = overflow ? "context_length_exceeded" : (report.code ?? (status === 429 ? "rate_limit_exceeded" : null));
  const message = redact(report.message, hidden).trim() || wordless(report.status);
  return {
    status,
    error: {
      message,
      type: typeFor(report.type, status),
      param: report.param === null ? null : redact(report.param, hidden),
      code: code === null && status >= 500 ? "upstream_failed" : code === null ? null : redact(code, hidden),
    },
  };
}

/** Statuses that clients know how to treat. Those of CDNs (52x) and of redirects say that we did not get through. */
function statusFor(status: number | undefined): number {
  if (status === undefined || status < 400) return ERRORS.upstream_failed.status;
  if (status === 529) return 503;
  if (status === 421 || status === 407 || status === 499 || status > 511) return 502;
  return status;
}

function wordless(status: number | undefined): string {
  if (status === undefined) return "The upstream reported an error without saying which.";
  if (status >= 520 && status <= 527) return `The upstream is unreachable (status ${status}).`;
  return `The upstream answered with status ${status} and no explanation.`;
}

const OPENAI_TYPES = /^(?:[a-z]+_)+error$|^(?:requests|tokens|insufficient_quota|invalid_request|request_forbidden)$/;

function typeFor(type: string | undefined, status: number): string {
  if (type !== undefined && OPENAI_TYPES.test(type)) return type;
  if (status === 429) return "rate_limit_error";
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

/** An answer that breaks the contract in a way that cannot be repaired. `what` is ours: no word of the upstream's. */
export function invalidAnswer(what: string): GatewayError {
  return gatewayError("upstream_invalid", `The upstream sent ${what}.`);
}
