/** The bytes of well-behaved answers, in pieces that a script can leave out, break or delay. */

export const chunkOf = (delta: object, finish: string | null = null, index = 0): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index, delta, logprobs: null, finish_reason: finish }],
});

export const event = (data: object | string): string =>
  `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

export const role = event(chunkOf({ role: "assistant", content: "" }));
export const says = (content: string): string => event(chunkOf({ content }));
export const finish = event(chunkOf({}, "stop"));
export const done = event("[DONE]");

export const inChunk = (bytes: string): string => `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`;
export const lastChunk = "0\r\n\r\n";

export const streamHead = (more = ""): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n${more}\r\n`;

/** A whole stream that says `text`, head and framing included. */
export const streamOf = (text: string): string => streamHead() + inChunk(role + says(text) + finish + done) + lastChunk;

export const completion = (content: string): string =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      { index: 0, message: { role: "assistant", content, refusal: null }, logprobs: null, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  });

export function response(status: number, body: string, more = "", type = "application/json"): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n${more}\r\n${body}`;
}

export const jsonHead = (length: number): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

export const refusal = (message: string, code: string | null = null, param: string | null = null): string =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param, code } });
