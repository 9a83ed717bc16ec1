import type { Failure } from "../protocol/chat/part.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import { invalidAnswer } from "../protocol/upstream-error.ts";
import { EMPTY_BODY, type BodyReader } from "./body-reader.ts";
import { keptOnSuccess } from "./failure.ts";

/** A 200 whose body has begun. It is read for what it is: what its content type says has been wrong too often. */
export interface Reply {
  readonly format: "json" | "events" | "bytes";
  readonly headers: Readonly<Record<string, string>>;
  /** What an answer that is not looked into calls itself. */
  readonly contentType?: string | null;
  /** The next bytes, the first ones included, valid until the next call; undefined at the end. Rejects when the body breaks off. */
  read(): Promise<Uint8Array | undefined>;
  /** Whether all of it has been read, as far as is known without asking. */
  ended(): boolean;
}

const MAX_BLANK_BYTES = 1024 * 1024;

/** Reads until the first byte that tells an event stream from JSON. */
export async function begunReply(reader: BodyReader, headers: Headers): Promise<Result<Reply, Failure>> {
  for (let blank = 0; ;) {
    const bytes = await reader.read();
    if (bytes === undefined) return err(EMPTY);
    const reply = replyFrom(bytes, reader, headers);
    if (reply !== undefined) return ok(reply);
    blank += bytes.length;
    if (blank > MAX_BLANK_BYTES) return err({ error: invalidAnswer("an answer of nothing but white space") });
  }
}

/** A body that has been read to its end. */
export function wholeReply(bytes: Uint8Array, headers: Headers): Result<Reply, Failure> {
  const reply = replyFrom(bytes, EMPTY_BODY, headers);
  return reply === undefined ? err(EMPTY) : ok(reply);
}

/** A body that is taken as it comes, whatever it is. */
export const unreadReply = (reader: BodyReader, headers: Headers): Reply => ({
  format: "bytes",
  headers: keptOnSuccess(headers),
  contentType: headers.get("content-type"),
  read: () => reader.read(),
  ended: () => reader.ended,
});

const EMPTY = { error: invalidAnswer("an empty answer") };

/** @param bytes the first ones @param reader has the others */
function replyFrom(bytes: Uint8Array, reader: BodyReader, headers: Headers): Reply | undefined {
  const at = bytes.findIndex(isVisible);
  if (at < 0) return undefined;
  // White space (and a byte order mark) in front means nothing, in either form. The buffer is used again only after the next read,
  // which comes when this piece has been taken.
  let first: Uint8Array | undefined = bytes.subarray(at);
  return {
    format: formatOf(bytes[at] ?? 0, headers),
    headers: keptOnSuccess(headers),
    read(): Promise<Uint8Array | undefined> {
      const begun = first;
      first = undefined;
      return begun === undefined ? reader.read() : Promise.resolve(begun);
    },
    ended: () => first === undefined && reader.ended,
  };
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const isVisible = (byte: number): boolean => byte > 0x20 && !BYTE_ORDER_MARK.includes(byte);

/** A brace begins a document. `data:`, `event:`, `id:`, `retry:`, `error:` or a comment begin an event stream; else the label counts. */
function formatOf(firstByte: number, headers: Headers): Reply["format"] {
  const first = String.fromCharCode(firstByte);
  if (first === "{" || first === "[") return "json";
  const label = headers.get("content-type") ?? "";
  return ":deir".includes(first) || /^text\/event-stream\b/i.test(label) ? "events" : "json";
}
