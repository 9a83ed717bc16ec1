/** Reads a body by what the network hands over. */
export interface BodyReader {
  /** The next bytes, valid until the next call; undefined at the end. Rejects when the body breaks off. */
  read(): Promise<Uint8Array | undefined>;
  /** Lets the connection go, whatever is still on it. */
  cancel(): void;
}

const SMALLEST = 4 * 1024;
const LARGEST = 256 * 1024;

/**
 * The default reader hands over at most 4 KiB at a time and costs a hop for each; this one brings its own buffer, small at first
 * (thousands of idle streams keep theirs pinned) and larger as soon as a read has filled it.
 */
export function createBodyReader(body: ReadableStream<Uint8Array>): BodyReader {
  const reader = body.getReader({ mode: "byob" });
  let size = SMALLEST;
  let buffer = new ArrayBuffer(size);
  return {
    async read(): Promise<Uint8Array | undefined> {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      if (done) return undefined;
      const filled = value.length === size;
      if (filled && size < LARGEST) buffer = new ArrayBuffer((size *= 4));
      else buffer = value.buffer as ArrayBuffer;
      return value;
    },
    cancel(): void {
      // A body that has already failed rejects its cancel; it is gone either way.
      reader.cancel().catch((reason: unknown) => reason);
    },
  };
}
