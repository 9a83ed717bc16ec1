import { concat } from "../protocol/bytes.ts";
import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { createModelPart, type ModelPart } from "../protocol/multipart/model-part.ts";
import { missing } from "../protocol/request-body.ts";
import { err, ok, type Result } from "../protocol/result.ts";

/** A multipart form as far as it has been read: up to its part `model`. */
export interface Upload {
  readonly model: string;
  /** What was read is dropped; the rest is another reader's. */
  release(): void;
  /**
   * The whole form, what was read and what is still to come. @param model takes the place of the client's
   * @param fault is told when the rest turns out to be wrong; the body is broken off then
   */
  body(model: string, fault: (error: GatewayError) => void): UploadBody;
}

export interface UploadBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Settles when everything has been sent, or nothing more can be. */
  readonly sent: Promise<void>;
  /** Nobody reads it any more. */
  stop(): void;
}

export interface UploadLimits {
  /** How much may come before the part `model`: that much has to be held. */
  readonly held: number;
  readonly total: number;
}

/** Reads until it is known which model a form is for. With the part `model` first, nothing has to be held. */
export async function openUpload(
  body: ReadableStream<Uint8Array>,
  length: number | undefined,
  boundary: string,
  limits: UploadLimits,
): Promise<Result<Upload, GatewayError>> {
  if (length !== undefined && length > limits.total) return err(tooLarge(limits.total));
  const reader = body.getReader();
  const read = await readModel(reader, createModelPart(boundary), limits.held);
  if (!read.ok) {
    // What is still coming is read by whoever drains refused requests.
    reader.releaseLock();
    return read;
  }
  const { model, part, place, first } = read.value;
  return ok({
    model,
    release: () => reader.releaseLock(),
    body(name, fault): UploadBody {
      const start = name === model ? first : replaced(first, place, new TextEncoder().encode(name));
      const grown = start.length - first.length;
      const { readable, writable } =
        length === undefined ? new IdentityTransformStream() : new FixedLengthStream(length + grown);
      const writer = writable.getWriter();
      const sent = send(reader, writer, part, start, { most: limits.total - first.length, total: limits.total }, fault);
      return { stream: readable, sent, stop: () => void writer.abort("stopped").catch(() => undefined) };
    },
  });
}

interface ReadModel {
  readonly model: string;
  readonly part: ModelPart;
  readonly place: { readonly start: number; readonly end: number };
  /** All that has been read. */
  readonly first: Uint8Array;
}

async function readModel(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  part: ModelPart,
  most: number,
): Promise<Result<ReadModel, GatewayError>> {
  const held: Uint8Array[] = [];
  let size = 0;
  while (part.state === "looking") {
    const next = await reader.read().catch(() => undefined);
    if (next?.value === undefined) return err(MALFORMED);
    part.feed(next.value);
    held.push(next.value);
    size += next.value.length;
    if (part.state === "looking" && size > most) return err(notSeen(most));
  }
  const { value } = part;
  if (part.state !== "found" || value === undefined) return err(part.state === "ended" ? missing("model") : MALFORMED);
  const first = concat(held);
  const model = new TextDecoder().decode(first.subarray(value.start, value.end)).trim();
  return model === "" ? err(missing("model")) : ok({ model, part, place: value, first });
}

function replaced(bytes: Uint8Array, { start, end }: { start: number; end: number }, by: Uint8Array): Uint8Array {
  return concat([bytes.subarray(0, start), by, bytes.subarray(end)]);
}

/**
 * The rest is looked through on its way: a second part `model` could mean another model to the upstream than it did here. What
 * cannot be sent any more is read all the same: a client that is still sending would see a broken pipe, not the answer.
 */
async function send(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  part: ModelPart,
  first: Uint8Array,
  { most, total }: { readonly most: number; readonly total: number },
  fault: (error: GatewayError) => void,
): Promise<void> {
  let open = true;
  const write = async (bytes: Uint8Array): Promise<void> => {
    open &&= await writer.write(bytes).then(
      () => true,
      () => false,
    );
  };
  await write(first);
  for (let rest = most; ;) {
    const next = await reader.read().catch(() => undefined);
    if (next === undefined) return writer.abort("the client has left").catch(() => undefined);
    if (next.done) return writer.close().catch(() => undefined);
    rest -= next.value.length;
    part.feed(next.value);
    const wrong = part.state !== "found" ? TWICE : rest < 0 ? tooLarge(total) : undefined;
    if (wrong !== undefined && open) {
      open = false;
      fault(wrong);
      writer.abort("refused").catch(() => undefined);
    }
    if (rest < -total) return;
    if (open) await write(next.value);
  }
}

const MALFORMED = gatewayError(
  "invalid_value",
  "The body of the request could not be read as the multipart/form-data that its content type says.",
);
const TWICE = gatewayError("invalid_value", "The part 'model' of the form must stand there once.", "model");

const notSeen = (limit: number): GatewayError =>
  gatewayError(
    "body_too_large",
    `The part 'model' does not stand within the first ${limit} bytes of the form; send it first.`,
    "model",
  );

const tooLarge = (limit: number): GatewayError =>
  gatewayError(
    "body_too_large",
    `The body of the request is larger than the ${limit} bytes that this gateway accepts.`,
  );
