// What the load client asks for and what the upstream answers: the words both sides of the bench share.
import { createHash } from "node:crypto";

export const MODELS = {
  /** A whole JSON answer, at once. */
  json: "bench-json",
  /** A short stream whose first token leaves at once. */
  first: "bench-first",
  /** One 220-byte event each 2 ms until the client leaves. */
  paced: "bench-paced",
  /** The same, but each event repeats the role, as TGI's do: none can leave as it came. */
  repaired: "bench-repaired",
  /** 5,000 events of 210 bytes in one write. */
  burst: "bench-burst",
  /** One event of 5 MB. */
  event5mb: "bench-event-5mb",
  event10mb: "bench-event-10mb",
  /** A first token, then silence. */
  idle: "bench-idle",
} as const;

export type BenchModel = (typeof MODELS)[keyof typeof MODELS];

export const BURST_EVENTS = 5000;
const ID = "chatcmpl-b6452f4ce4505833";
const CREATED = 1795962947;

/** The first word of every streamed answer; the client's clock for the first token stops at it. */
export const FIRST_WORD = "Ahoy";
export const DONE = "data: [DONE]\n\n";

function event(model: string, fields: string): string {
  return `data: {"id":"${ID}","object":"chat.completion.chunk","created":${CREATED},"model":"${model}",${fields}}\n\n`;
}

/** The events of a stream, spelled as vLLM spells them (without `token_ids`, so that 210 bytes have room for a word). */
export function roleEvent(model: string): string {
  return event(
    model,
    `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`,
  );
}

export function contentEvent(model: string, content: string): string {
  return event(
    model,
    `"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"logprobs":null,"finish_reason":null}]`,
  );
}

export function finishEvent(model: string): string {
  return event(
    model,
    `"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]`,
  );
}

const LINE = "the quick brown fox jumps over the lazy dog and back again, as it has done since 1885";

/** A content event of exactly `bytes` bytes; `turn` varies its words, as no two events of a real answer are alike. */
export function contentEventOfBytes(model: string, bytes: number, turn = 0): string {
  const missing = bytes - contentEvent(model, "").length;
  if (missing < 0) throw new RangeError(`an event of ${model} is never as short as ${bytes} bytes`);
  const lines = Math.floor(missing / (LINE.length + "\\n".length));
  const rest = missing - lines * (LINE.length + "\\n".length);
  const at = (turn * 7) % LINE.length;
  return contentEvent(model, `${LINE}\n`.repeat(lines) + (LINE + LINE).slice(at, at + rest));
}

export function burst(model: string): string {
  return Array.from({ length: BURST_EVENTS }, (_, turn) => contentEventOfBytes(model, 210, turn)).join("");
}

export function jsonAnswer(model: string): string {
  return (
    `{"id":"${ID}","object":"chat.completion","created":${CREATED},"model":"${model}","choices":[{"index":0,` +
    `"message":{"role":"assistant","content":"${FIRST_WORD}, world.","refusal":null,"annotations":null,"audio":null,` +
    `"function_call":null,"reasoning":null},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,` +
    `"routed_experts":null}],"service_tier":null,"system_fingerprint":"vllm-0.32.0-08f09831","usage":{"prompt_tokens":21,` +
    `"total_tokens":35,"completion_tokens":14,"prompt_tokens_details":null,"completion_tokens_details":null},` +
    `"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,"kv_transfer_params":null,` +
    `"ec_transfer_params":null,"metrics":null}`
  );
}

export function requestBody(model: string, stream: boolean, user = "bench"): string {
  return JSON.stringify({
    model,
    messages: [
      { role: "system", content: "You are a helpful assistant. Answer in one short sentence, and name your source." },
      { role: "user", content: "Who said that the sea was wine-dark?" },
      { role: "assistant", content: "Homer, in the Iliad and in the Odyssey." },
      { role: "user", content: "And what did the word mean to those who first heard it sung?" },
    ],
    temperature: 0.7,
    max_tokens: 256,
    user,
    stream,
  });
}

/** The same bytes to every server, so that none is spared the reading of a header. */
export function httpRequest(body: string): Buffer {
  return Buffer.from(
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: application/json\r\n" +
      `authorization: Bearer ${KEY}\r\nx-tenant: acme\r\nuser-agent: bench\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const KEY = "sk-bench-acme";

/** Two tenants with keys in front of one vLLM, as an operator would write it. */
export function gatewayDocument(upstream: string): Record<string, unknown> {
  const hashed = (key: string): string => `sha256:${createHash("sha256").update(key).digest("hex")}`;
  return {
    upstreams: { gpu: { provider: "vllm", base_url: `${upstream}/v1` } },
    routes: { "bench-*": { targets: [{ upstream: "gpu" }] } },
    tenants: {
      acme: { keys: [hashed(KEY)], models: ["bench-*"] },
      globex: { keys: [hashed("sk-bench-globex")], models: ["bench-*"] },
    },
  };
}
