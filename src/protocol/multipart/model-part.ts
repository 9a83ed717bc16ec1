/**
 * Looks for the part `model` in a `multipart/form-data` body (RFC 7578, RFC 2046 5.1.1) that is fed as it comes, in any split. What
 * has been looked at is not kept here: places are told as distances from the beginning of the body.
 */
export interface ModelPart {
  feed(bytes: Uint8Array): void;
  readonly state: "looking" | "found" | "twice" | "ended" | "malformed";
  /** Where the value stands, once it is found. */
  readonly value: { readonly start: number; readonly end: number } | undefined;
}

const MAX_VALUE = 1024;
const MAX_HEADERS = 16 * 1024;
const MAX_PADDING = 256;

// One character for each byte, so that places in the text are places in the body; which character does not matter for ASCII.
const latin1 = new TextDecoder("latin1");

/** The boundary of a body, by its content type; undefined: it is no multipart form. */
export function boundaryOf(contentType: string | null): string | undefined {
  const match = /^\s*multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? "",
  );
  return match?.[1] ?? match?.[2];
}

export function createModelPart(boundary: string): ModelPart {
  const delimiter = `\r\n--${boundary}`;
  let state: ModelPart["state"] = "looking";
  let value: ModelPart["value"];
  // What has not been looked through yet, and where it begins. The first delimiter has no line end before it: one is thought there.
  let text = "\r\n";
  let begin = -2;
  let phase: "headers" | "content" = "content";
  /** Where the value of the part `model` begins, while we are in it. */
  let start: number | undefined;

  const advance = (count: number): void => {
    text = text.slice(count);
    begin += count;
  };

  /** False: more bytes are needed. */
  const readHeaders = (): boolean => {
    const end = text.startsWith("\r\n") ? 0 : text.indexOf("\r\n\r\n");
    if (end < 0) {
      if (text.length > MAX_HEADERS) state = "malformed";
      return false;
    }
    const name = nameOf(text.slice(0, end));
    if (name === undefined) state = "malformed";
    // The line end before the content belongs to it for a delimiter that follows at once.
    advance(end === 0 ? 0 : end + 2);
    phase = "content";
    if (name === "model") {
      if (value !== undefined) state = "twice";
      start = begin + 2;
    }
    return true;
  };

  const readContent = (): boolean => {
    const at = text.indexOf(delimiter);
    if (at < 0) {
      if (start !== undefined && text.length > MAX_VALUE + delimiter.length) state = "malformed";
      else if (start === undefined && text.length > delimiter.length) advance(text.length - delimiter.length);
      return false;
    }
    const rest = text.slice(at + delimiter.length, at + delimiter.length + MAX_PADDING);
    const line = /^(--|[ \t]*\r\n)/.exec(rest)?.[1];
    if (line === undefined) {
      if (/^(?:-|[ \t]*\r?)$/.test(rest) && rest.length < MAX_PADDING) return false;
      // It only begins like the delimiter.
      if (start === undefined) advance(at + 1);
      else state = "malformed";
      return true;
    }
    if (start !== undefined) {
      const length = begin + at - start;
      if (length >= 0 && length <= MAX_VALUE) {
        value = { start, end: start + length };
        state = "found";
      } else state = "malformed";
      start = undefined;
    }
    advance(at + delimiter.length + line.length);
    phase = "headers";
    if (line === "--" && state === "looking") state = "ended";
    if (line === "--") begin = Infinity;
    return true;
  };

  return {
    get state() {
      return state;
    },
    get value() {
      return value;
    },
    feed(bytes): void {
      // Behind the last delimiter there is nothing that counts.
      if (begin === Infinity) return;
      text += latin1.decode(bytes);
      while (begin !== Infinity && (state === "looking" || state === "found")) {
        if (!(phase === "headers" ? readHeaders() : readContent())) return;
      }
    },
  };
}

/** The name of a part; "" if it has none, undefined if it is said in a way that others may read as another name. */
function nameOf(headers: string): string | undefined {
  const lines = headers.split("\r\n");
  if (lines.some((line) => /^[ \t]|[\r\n]/.test(line))) return undefined;
  const [line = "", more] = lines.filter((one) => /^content-disposition\s*:/i.test(one));
  if (more !== undefined) return undefined;
  const names = [...line.matchAll(/;\s*name(\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gi)];
  const [first, second] = names;
  if (second !== undefined || first?.[1] === "*" || first?.[2]?.includes("\\")) return undefined;
  return first?.[2] ?? first?.[3] ?? "";
}
