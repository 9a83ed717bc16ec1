import { concat } from "../protocol/bytes.ts";
import { MAX_ANSWER_BYTES, type AnswerForm, type AnswerState, type WholeAnswer } from "../protocol/answer-form.ts";
import type { Failure } from "../protocol/chat/part.ts";
import type { Identity } from "../protocol/chat/types.ts";
import { ERRORS, gatewayError } from "../protocol/errors.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { Exchange } from "../upstream/exchange.ts";
import type { Reply } from "../upstream/reply.ts";
import type { Target } from "../upstream/target.ts";

/** How long a finished stream may take for its usage and `[DONE]`. */
export const LINGER_MS = 5000;

export interface Gathered {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A whole JSON answer, from an upstream that sends one or from one that streams. */
export async function gatherAnswer(
  exchange: Exchange,
  reply: Reply,
  target: Target,
  form: AnswerForm,
  identity: Identity,
  now: () => number,
): Promise<Result<Gathered, Failure>> {
  const { headers } = reply;
  if (reply.format === "json") {
    const answer = await readWhole(exchange, reply, target, form, identity, now);
    return answer.ok ? ok({ text: answer.value.text, headers }) : answer;
  }
  const gather = form.gather(identity);
  const { state } = gather;
  exchange.deadline.set("first_event_ms", Math.max(exchange.openedAt + target.deadlines.first_event_ms - now(), 0));
  let broken: Failure | undefined;
  for (let progress = 0; state.outcome === undefined; progress = state.progress) {
    const bytes = await reply.read().catch(() => {
      broken = exchange.broken();
    });
    if (bytes === undefined) break;
    gather.feed(bytes);
    if (state.progress > progress) watchStream(exchange, target, state);
  }
  const body = gather.end(broken);
  if (body.ok) return ok({ text: JSON.stringify(body.value), headers });
  return state.answered ? err(brokenOff(body.error)) : body;
}

/** An answer that broke off on its way is our side's failure, whatever status the upstream would have given it at the start. */
function brokenOff({ error, report }: Failure): Failure {
  const status = error.status === ERRORS.upstream_timeout.status ? error.status : ERRORS.upstream_failed.status;
  return { error: { ...error, status }, ...(report === undefined ? {} : { report: { ...report, status } }) };
}

/** Once something has come, the limit is on the silences; once everything has, on the wait for the end. */
export function watchStream(exchange: Exchange, target: Target, state: AnswerState): void {
  if (!state.answered) return;
  const { idle_ms } = target.deadlines;
  exchange.deadline.set("idle_ms", state.finished ? Math.min(idle_ms, LINGER_MS) : idle_ms);
}

/** Reads one JSON document within its limits and holds it to the contract. */
export async function readWhole(
  exchange: Exchange,
  reply: Reply,
  target: Target,
  form: AnswerForm,
  identity: Identity,
  now: () => number,
): Promise<Result<WholeAnswer, Failure>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let bytes = await reply.read(); bytes !== undefined; bytes = reply.ended() ? undefined : await reply.read()) {
      length += bytes.length;
      if (length > MAX_ANSWER_BYTES) return err({ error: TOO_LARGE });
      parts.push(reply.ended() ? bytes : bytes.slice());
      if (!reply.ended()) watchBody(exchange, target, now);
    }
  } catch {
    return err(exchange.broken());
  }
  exchange.deadline.pause();
  return form.whole(utf8.decode(concat(parts)), identity);
}

/** A body that has begun may not fall silent, nor take longer than the whole answer is allowed. */
function watchBody(exchange: Exchange, target: Target, now: () => number): void {
  const { idle_ms, total_ms } = target.deadlines;
  const rest = exchange.openedAt + total_ms - now();
  if (rest < idle_ms) exchange.deadline.set("total_ms", Math.max(rest, 0));
  else exchange.deadline.set("idle_ms", idle_ms);
}

const TOO_LARGE = gatewayError(
  "upstream_too_large",
  "The upstream sent an answer that is larger than this gateway accepts.",
);

const utf8 = new TextDecoder();
