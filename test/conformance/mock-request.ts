export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly head: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly json: unknown;
  /** When the other side closed the connection although the answer was not complete. */
  closedAt: number | undefined;
}

function dechunk(buffer: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const parts: Buffer[] = [];
  let at = start;
  for (let size = -1; size !== 0;) {
    const lineEnd = buffer.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    size = Number.parseInt(buffer.toString("latin1", at, lineEnd), 16);
    if (buffer.length < lineEnd + 2 + size + 2) return undefined;
    parts.push(buffer.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return { body: Buffer.concat(parts), end: at };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** One complete HTTP/1.1 request at the start of `buffer`, or undefined if more bytes are needed. */
export function parseRequest(buffer: Buffer): { request: SeenRequest; rest: Buffer } | undefined {
  const headEnd = buffer.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = buffer.toString("latin1", 0, headEnd);
  const [first = "", ...lines] = head.split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const start = headEnd + 4;
  const length = Number(headers["content-length"] ?? 0);
  const plain = { body: buffer.subarray(start, start + length), end: start + length };
  const framed = /chunked/i.test(headers["transfer-encoding"] ?? "") ? dechunk(buffer, start) : plain;
  if (!framed || buffer.length < framed.end) return undefined;
  const [method = "", path = ""] = first.split(" ");
  const { body } = framed;
  const request = { method, path, head, headers, body, json: parseJson(body), closedAt: undefined };
  return { request, rest: buffer.subarray(framed.end) };
}
