import { concat } from "../protocol/bytes.ts";
import type { AnswerForm } from "../protocol/answer-form.ts";
import type { Failure } from "../protocol/chat/part.ts";
import type { Identity } from "../protocol/chat/types.ts";
import { gatewayError } from "../protocol/errors.ts";
import { err, ok } from "../protocol/result.ts";
import type { Exchange } from "../upstream/exchange.ts";
import type { Reply } from "../upstream/reply.ts";
import type { Target } from "../upstream/target.ts";
import type { ClientStream } from "./client-stream.ts";
import type { Attempted } from "./complete.ts";
import { readWhole, watchStream } from "./gather-answer.ts";
import type { Ports } from "./ports.ts";

export interface Delivery {
  readonly exchange: Exchange;
  readonly reply: Reply;
  readonly client: ClientStream;
  readonly target: Target;
  readonly form: AnswerForm;
  readonly identity: Identity;
  readonly ports: Ports;
  /** The answer has begun: what the attempt has taught is true. */
  readonly learn: () => void;
}

const LEFT = { error: gatewayError("client_closed_request", "The client has left."), begun: true };
/** How long a stream that has said `[DONE]` is given to end, so that its connection can be used again. */
const FAREWELL_MS = 100;

/** How much may come before the answer begins. */
const MAX_HELD_BYTES = 1024 * 1024;
const NO_ANSWER = gatewayError("upstream_too_large", "The upstream sent too much that is no answer.");

const utf8 = new TextEncoder();

/** An upstream's answer, in whatever form it came, as a stream. */
export async function deliverStream(delivery: Delivery): Promise<Attempted<undefined>> {
  return delivery.reply.format === "json" ? deliverWhole(delivery) : deliverEvents(delivery);
}

async function deliverWhole({
  exchange,
  reply,
  client,
  target,
  form,
  identity,
  ports,
  learn,
}: Delivery): Promise<Attempted<undefined>> {
  const answer = await readWhole(exchange, reply, target, form, identity, ports.now);
  if (!answer.ok) return answer;
  learn();
  client.addHeaders(reply.headers);
  if (!(await client.write(utf8.encode(form.reframed(answer.value))))) return err(LEFT);
  client.close();
  return ok(undefined);
}

/** One read, one pass over its bytes, one write. What comes before the answer begins is held back: it commits to nothing. */
async function deliverEvents({
  exchange,
  reply,
  client,
  target,
  form,
  identity,
  ports,
  learn,
}: Delivery): Promise<Attempted<undefined>> {
  const stream = form.stream(identity);
  const { state } = stream;
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let begun = false;
  for (let progress = 0; ; progress = state.progress) {
    let broken: Failure | undefined;
    const bytes = await reply.read().catch(() => {
      broken = exchange.broken();
    });
    let out = broken !== undefined ? stream.fail(broken) : bytes === undefined ? stream.end() : stream.feed(bytes);
    if (out !== undefined && !begun) {
      if (!state.answered) {
        held.push(out.slice());
        heldBytes += out.length;
        if (heldBytes > MAX_HELD_BYTES) return err({ error: NO_ANSWER });
      } else {
        begun = true;
        learn();
        client.addHeaders(reply.headers);
        if (held.length > 0) out = concat([...held, out]);
      }
    }
    const { outcome } = state;
    if (outcome?.kind === "failed") {
      // The error goes to the client behind what was received, and at once: the write is not waited for.
      if (begun && out !== undefined) void client.write(out);
      return err({ ...outcome.failure, begun });
    }
    if (begun && out !== undefined) {
      exchange.deadline.pause();
      if (!(await client.write(out))) return err(LEFT);
    }
    if (outcome === undefined) {
      if (state.progress > progress || out !== undefined) watchStream(exchange, target, state);
      continue;
    }
    if (bytes !== undefined) {
      exchange.deadline.set("idle_ms", FAREWELL_MS);
      const end = reply.read().catch(() => undefined);
      // The answer is over, and with it the request; its connection would be thrown away.
      ports.waitUntil(end);
      client.close();
      await end;
    } else client.close();
    return ok(undefined);
  }
}
