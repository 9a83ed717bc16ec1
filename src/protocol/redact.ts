/**
 * What an upstream says about the client's own request is for that client to read; what it lets slip about the platform is not:
 * credentials, internal addresses, file paths, stack traces, the names of other models. Each of these has a shape.
 */
const HIDDEN = "[hidden]";
const MAX_MESSAGE = 4000;

const TRACEBACK = /\s*(?:Traceback \(most recent call last\)|\n\s+at .+:\d+:\d+|\bFile "[^"\n]*", line \d+)[\s\S]*$/;
const SERVED_NAMES = /\s*(?:Valid aliases|Available models|Supported models|Valid models|Known models)\b[\s\S]*$/i;

const SECRETS: readonly RegExp[] = [
  // A prefix that providers give their keys, and a digit somewhere: `skip_special_tokens` is no key.
  /\b(?:sk|pk|rk|gsk|hf|xai|nvapi|ghp|key)[-_](?=[A-Za-z_\-*.]*[\d*])[A-Za-z0-9_\-*.]{12,}/g,
  /\bAIza[\w-]{20,}|\bAKIA[A-Z0-9]{12,}/g,
  /\b(Bearer|Basic)\s+[A-Za-z0-9+/_\-.=]{6,}/gi,
  /\b((?:api[-_ ]?key|token|secret|password|authorization)["']?\s*[=:]\s*["']?)[^\s"',;]{6,}/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+/g,
];

// Names that only mean something inside somebody's network, and addresses.
const IPV6 = "(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){7})[0-9a-f]{1,4}:[0-9a-f:.]+[0-9a-f]";
const INTERNAL_HOST = `(?:localhost|(?:\\d{1,3}\\.){3}\\d{1,3}|\\[${IPV6}\\]|\\[::1?\\]|[\\w-]+(?:\\.[\\w-]+)*\\.(?:internal|local|lan|corp|intra|svc|cluster\\.local|ts\\.net|compute\\.amazonaws\\.com))`;
const INTERNAL_URL = new RegExp(
  `\\b[a-z][a-z0-9+.-]*://(?:[^\\s/@"']*@)?(?:${INTERNAL_HOST}|[\\w-]+(?![\\w.-]))(?::\\d+)?[^\\s"'<>)\\]}]*`,
  "gi",
);
const BARE_ADDRESS = new RegExp(`(?<![\\w.-])${INTERNAL_HOST}(?::\\d+)?(?![\\w-])`, "gi");
const BARE_IPV6 = new RegExp(`(?<![\\w:.-])${IPV6}(?![\\w:-])`, "gi");
const URL_WITH_CREDENTIALS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@"']+@[^\s"'<>)\]}]*/gi;
const URL_WITH_QUERY = /(\bhttps?:\/\/[^\s"'<>)\]}?]+)\?[^\s"'<>)\]}]*/gi;
const HOST_FIELD = /\b(host(?:name)?=)['"]?[^'",)\s]+['"]?/gi;

// An absolute path with at least two levels, but not the path of an API and not a media type.
const FILE_PATH = /(?<![\w./:<-])\/(?!v\d|api\b|openai\b|chat\b|completions\b)(?:[\w.@+~-]+\/)+[\w.@+~-]+/g;
const WINDOWS_PATH = /\b[A-Za-z]:\\[^\s"'<>|]+/g;

/** @param host the upstream's own host (and port), which its messages may name */
export function redact(message: string, host?: string): string {
  let text = message
    .slice(0, MAX_MESSAGE * 2)
    .replace(TRACEBACK, "")
    .replace(SERVED_NAMES, "");
  for (const secret of SECRETS)
    text = text.replace(secret, (_match, kept: unknown) => (typeof kept === "string" ? kept : "") + HIDDEN);
  text = text
    .replace(URL_WITH_CREDENTIALS, HIDDEN)
    .replace(INTERNAL_URL, HIDDEN)
    .replace(URL_WITH_QUERY, `$1?${HIDDEN}`)
    .replace(BARE_ADDRESS, HIDDEN)
    .replace(BARE_IPV6, HIDDEN)
    .replace(HOST_FIELD, `$1${HIDDEN}`)
    .replace(FILE_PATH, HIDDEN)
    .replace(WINDOWS_PATH, HIDDEN);
  for (const name of host === undefined ? [] : [host, host.replace(/:\d+$/, "")]) {
    if (name.includes(".") || name.includes(":")) text = text.replaceAll(name, HIDDEN);
  }
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}
