/** Reads a body by what the network hands over. */
export interface BodyReader {
  /** The next bytes, valid until the next call; undefined at the end. Rejects when the body breaks off. */
  read(): Promise<Uint8Array | undefined>;
  /** The body has come to its end, as far as is known without asking. */
  readonly ended: boolean;
  /** Lets the connection go, whatever is still on it. */
  cancel(): void;
}

const SMALLEST = 4 * 1024;
const LARGEST = 256 * 1024;

/**
 * The default reader hands over at most 4 KiB at a time and costs a hop for each; this one brings its own buffer, small at first
 * (thousands of idle streams keep theirs pinned) and larger as soon as a read has filled it.
 * @param length how many bytes will come, if that is known: it spares the last read
 */
export function createBodyReader(body: ReadableStream<Uint8Array>, length: number | undefined): BodyReader {
  const reader = byobReaderOf(body);
  let size = SMALLEST;
  let buffer = new ArrayBuffer(size);
  let rest = length ?? Infinity;
  let ended = rest === 0;
  return {
    get ended() {
      return ended;
    },
    async read(): Promise<Uint8Array | undefined> {
      if (ended) return undefined;
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done) {
        ended = true;
        return undefined;
      }
      rest -= value.length;
      ended = rest <= 0;
      const filled = value.length === size;
      if (filled && size < LARGEST) buffer = new ArrayBuffer((size *= 4));
      else buffer = value.buffer as ArrayBuffer;
      return value;
    },
    cancel(): void {
      // A body that has already failed rejects its cancel; it is gone either way.
      if (!ended) reader.cancel().catch((reason: unknown) => reason);
    },
  };
}

/** A stream that was made by code (a binding's, say) brings buffers of its own; the runtime's, behind it, does not. */
function byobReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return body.pipeThrough(new IdentityTransformStream()).getReader({ mode: "byob" });
  }
}

/** A reader of nothing, for an answer that has no body. */
export const EMPTY_BODY: BodyReader = { read: () => Promise.resolve(undefined), ended: true, cancel: () => undefined };
