/**
 * Follows the bytes of one HTTP/1.1 connection far enough to know whether an answer is owed, that is, whether a request
 * has begun whose response has not been seen to its last byte (RFC 9112, section 6.3). It buffers nothing but heads.
 */
export interface ExchangeTracker {
  request(bytes: Buffer): void;
  response(bytes: Buffer): void;
  readonly pending: boolean;
}

type Phase = "head" | "length" | "chunk-size" | "chunk-data" | "chunk-end" | "trailer" | "until-close";

const maxHeadBytes = 1024 * 1024;

export function trackExchange(): ExchangeTracker {
  let pending = false;
  let method = "";
  let phase: Phase = "head";
  let left = 0;
  let line = "";

  const finish = (): void => {
    pending = false;
    phase = "head";
    line = "";
  };

  const readHead = (head: string): void => {
    const status = Number(head.slice(9, 12));
    line = "";
    if (status >= 100 && status < 200 && status !== 101) return;
    const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1];
    if (method === "HEAD" || status === 204 || status === 304) finish();
    else if (/\r\ntransfer-encoding:[^\r]*chunked/i.test(head)) phase = "chunk-size";
    else if (length === undefined) phase = "until-close";
    else if (Number(length) === 0) finish();
    else {
      phase = "length";
      left = Number(length);
    }
  };

  /** Adds bytes to `line` up to and with `end`; true when the end has been seen. */
  const collect = (bytes: Buffer, offset: number, end: string): number => {
    const before = line.length;
    const slice = bytes.toString("latin1", offset, Math.min(bytes.length, offset + maxHeadBytes));
    line += slice;
    // The end may have been cut in two by a read.
    const found = line.indexOf(end, Math.max(0, before - end.length + 1));
    if (found < 0) return offset + slice.length;
    line = line.slice(0, found + end.length);
    return offset + line.length - before;
  };

  const response = (bytes: Buffer): void => {
    let offset = 0;
    while (offset < bytes.length) {
      if (phase === "until-close") return;
      if (phase === "length" || phase === "chunk-data" || phase === "chunk-end") {
        const taken = Math.min(left, bytes.length - offset);
        offset += taken;
        left -= taken;
        if (left > 0) return;
        if (phase === "length") finish();
        else if (phase === "chunk-data") {
          phase = "chunk-end";
          left = 2;
        } else phase = "chunk-size";
        continue;
      }
      const end = phase === "head" ? "\r\n\r\n" : "\r\n";
      offset = collect(bytes, offset, end);
      if (!line.endsWith(end)) {
        if (line.length > maxHeadBytes) phase = "until-close";
        continue;
      }
      if (phase === "head") readHead(line);
      else if (phase === "chunk-size") {
        left = Number.parseInt(line, 16);
        phase = left === 0 ? "trailer" : "chunk-data";
        line = "";
      } else {
        const last = line === end;
        line = "";
        if (last) finish();
      }
    }
  };

  return {
    request(bytes): void {
      if (pending) return;
      pending = true;
      method = bytes.toString("latin1", 0, 5) === "HEAD " ? "HEAD" : "";
    },
    response,
    get pending(): boolean {
      return pending;
    },
  };
}
