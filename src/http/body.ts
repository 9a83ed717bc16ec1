import { concat } from "../protocol/bytes.ts";
import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { err, ok, type Result } from "../protocol/result.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const NOT_UTF8 = gatewayError("invalid_json", "The body of the request could not be read as UTF-8 text.");

/** The body of a request as text, read once, never more of it than `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Result<string, GatewayError>> {
  const tooLarge = (): Result<never, GatewayError> => {
    const message = `The body of the request is larger than the ${maxBytes} bytes that this gateway accepts.`;
    return err(gatewayError("body_too_large", message));
  };
  const length = request.headers.get("content-length");
  if (length !== null && Number(length) > maxBytes) return tooLarge();
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip" && encoding !== "deflate") {
    const message = "The body of the request must be sent plain, or compressed with gzip or deflate.";
    return err(gatewayError("unsupported_content_encoding", message));
  }
  try {
    if (encoding === "identity" && length !== null) {
      const text = await request.text();
      // What was not UTF-8 has become U+FFFD, and has another length now.
      const isChanged = text.includes("\ufffd") && new TextEncoder().encode(text).length !== Number(length);
      return isChanged ? err(NOT_UTF8) : ok(text);
    }
    const bytes = await readBounded(request, encoding, maxBytes);
    return bytes === undefined ? tooLarge() : ok(utf8.decode(bytes));
  } catch {
    return err(NOT_UTF8);
  }
}

/** What has no length, or unpacks to an unknown one, is counted while it comes. */
async function readBounded(
  request: Request,
  encoding: "identity" | "gzip" | "deflate",
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array();
  const body = encoding === "identity" ? request.body : request.body.pipeThrough(new DecompressionStream(encoding));
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length;
    // The refusal leaves at once; what is still coming is for `drain`.
    if (length > maxBytes) {
      reader.releaseLock();
      return undefined;
    }
    parts.push(next.value);
  }
  return concat(parts);
}

/** How much of a body is read only to be dropped. */
const MAX_DRAINED_BYTES = 100 * 1024 * 1024;

/**
 * Reads on in the body of a request that has been refused before its end: a client that is still sending would see a broken pipe,
 * not the refusal.
 */
export async function drain(request: Request): Promise<void> {
  if (request.body === null || request.body.locked) return;
  let length = 0;
  try {
    for await (const part of request.body as ReadableStream<Uint8Array>) {
      length += part.length;
      if (length > MAX_DRAINED_BYTES) return;
    }
  } catch {
    // The client has left; there is nobody to tell.
  }
}
