/**
 * What an upstream says about the client's own request is for that client to read; what it lets slip about the platform is not:
 * credentials, internal addresses, file paths, stack traces, the names of other models. Each of these has a shape.
 */
const HIDDEN = "[hidden]";
const MAX_MESSAGE = 4000;

// Every repetition is bounded: the text is the upstream's, who may be repeating a client's, and the isolate is everybody's.
const TRACEBACK =
  /Traceback \(most recent call last\)|\n[ \t]{1,40}at [^\n]{1,300}:\d+:\d+|\bFile "[^"\n]{1,300}", line \d+/;
const SERVED_NAMES = /\b(?:Valid aliases|Available models|Supported models|Valid models|Known models)\b/i;

const SECRETS: readonly RegExp[] = [
  // A prefix that providers give their keys, and a digit somewhere: `skip_special_tokens` is no key.
  /\b(?:sk|pk|rk|gsk|hf|xai|nvapi|ghp|key)[-_](?=[A-Za-z_\-*.]{0,100}[\d*])[A-Za-z0-9_\-*.]{12,}/g,
  /\bAIza[\w-]{20,}|\bAKIA[A-Z0-9]{12,}/g,
  /\b(Bearer|Basic)\s+[A-Za-z0-9+/_\-.=]{6,}/gi,
  /\b((?:api[-_ ]?key|token|secret|password|authorization)["']?\s*[=:]\s*["']?)[^\s"',;]{6,}/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+/g,
];

// Names that only mean something inside somebody's network, and addresses.
const IPV6 = "(?=[0-9a-f:]*::|(?:[0-9a-f]{1,4}:){7})[0-9a-f]{1,4}:[0-9a-f:.]+[0-9a-f]";
const INTERNAL_HOST = `(?:localhost|(?:\\d{1,3}\\.){3}\\d{1,3}|\\[${IPV6}\\]|\\[::1?\\]|[\\w-]{1,63}(?:\\.[\\w-]{1,63}){0,8}\\.(?:internal|local|lan|corp|intra|svc|cluster\\.local|ts\\.net|compute\\.amazonaws\\.com))`;
const INTERNAL_URL = new RegExp(
  `\\b[a-z][a-z0-9+.-]{0,20}://(?:[^\\s/@"']{0,200}@)?(?:${INTERNAL_HOST}|[\\w-]{1,63}(?![\\w.-]))(?::\\d+)?[^\\s"'<>)\\]}]*`,
  "gi",
);
const BARE_ADDRESS = new RegExp(`(?<![\\w.-])${INTERNAL_HOST}(?::\\d+)?(?![\\w-])`, "gi");
const BARE_IPV6 = new RegExp(`(?<![\\w:.-])${IPV6}(?![\\w:-])`, "gi");
const URL_WITH_CREDENTIALS = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/@"']{1,200}@[^\s"'<>)\]}]*/gi;
const URL_WITH_QUERY = /(\bhttps?:\/\/[^\s"'<>)\]}?]+)\?[^\s"'<>)\]}]*/gi;
/** `connection to gpu-node-7:8000 refused` */
const HOST_AND_PORT =
  /\b((?:to|host|connect|connecting|at|from|server|address|upstream|dial)\s+)[a-z][\w-]{0,62}:\d{2,5}\b/gi;
const HOST_FIELD = /\b(host(?:name)?=)['"]?[^'",)\s]+['"]?/gi;

// An absolute path with at least two levels, but not the path of an API and not a media type.
const FILE_PATH = /(?<![\w./:<-])\/(?!v\d|api\b|openai\b|chat\b|completions\b)(?:[\w.@+~-]+\/)+[\w.@+~-]+/g;
const WINDOWS_PATH = /\b[A-Za-z]:\\[^\s"'<>|]+/g;

/** What one upstream's messages may name and its clients may not read. */
export interface Private {
  /** The upstream's own host (and port). */
  readonly host: string;
  /** The credentials that were sent to it. */
  readonly secrets: readonly string[];
  /** A model name that the client shall not read, and the one that it knows. */
  readonly renamed?: { readonly from: string; readonly to: string } | undefined;
}

export function redact(message: string, hidden?: Private): string {
  let text = message.slice(0, MAX_MESSAGE);
  for (const secret of hidden?.secrets ?? []) if (secret.length >= MIN_SECRET) text = text.replaceAll(secret, HIDDEN);
  if (hidden?.renamed !== undefined) text = renamed(text, hidden.renamed);
  text = before(SERVED_NAMES, before(TRACEBACK, text));
  for (const secret of SECRETS)
    text = text.replace(secret, (_match, kept: unknown) => (typeof kept === "string" ? kept : "") + HIDDEN);
  text = text
    .replace(URL_WITH_CREDENTIALS, HIDDEN)
    .replace(INTERNAL_URL, HIDDEN)
    .replace(URL_WITH_QUERY, `$1?${HIDDEN}`)
    .replace(BARE_ADDRESS, HIDDEN)
    .replace(BARE_IPV6, HIDDEN)
    .replace(HOST_AND_PORT, `$1${HIDDEN}`)
    .replace(HOST_FIELD, `$1${HIDDEN}`)
    .replace(FILE_PATH, HIDDEN)
    .replace(WINDOWS_PATH, HIDDEN);
  for (const name of hidden === undefined ? [] : [hidden.host, hidden.host.replace(/:\d+$/, "")]) {
    if (name.includes(".") || name.includes(":")) text = text.replaceAll(name, HIDDEN);
  }
  return message.length > MAX_MESSAGE ? `${text}…` : text;
}

/** Only where the name stands by itself: a short one may be part of any word. */
function renamed(text: string, { from, to }: { readonly from: string; readonly to: string }): string {
  const isWord = (character: string): boolean => /[\w-]/.test(character);
  return text
    .split(from)
    .reduce((all, next) => all + (isWord(all.slice(-1)) || isWord(next.slice(0, 1)) ? from : to) + next);
}

/** A shorter text could be any word. */
const MIN_SECRET = 6;

/** The text in front of what a pattern finds. */
function before(pattern: RegExp, text: string): string {
  const at = text.search(pattern);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}
