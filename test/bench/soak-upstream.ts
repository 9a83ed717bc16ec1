// The upstream of the soak: it says how long a request that its client abandoned stayed open.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "./upstream.ts";
import { contentEventOfBytes, DONE, finishEvent, roleEvent } from "./workload.ts";

export const SOAK_MODELS = {
  /** An event each 50 ms from the beginning. */
  talking: "bench-talking",
  /** Headers at once, then a long silence before the first event. */
  silent: "bench-silent",
  /** No headers either until the silence is over. */
  waiting: "bench-waiting",
} as const;

const EVENT_EACH_MS = 50;
const SILENCE_MS = 3000;
const EVENTS = 80;
const EVENT = contentEventOfBytes(SOAK_MODELS.talking, 220);

export interface SoakRequest {
  spoke: boolean;
  /** Set once the answer has been written to its end. */
  finishedAt?: number;
  closedAt?: number;
}

export interface SoakUpstream {
  readonly url: string;
  /** By the `user` field of the request. */
  readonly requests: ReadonlyMap<string, SoakRequest>;
  stop(): void;
}

function talk(response: ServerResponse, request: SoakRequest): NodeJS.Timeout {
  request.spoke = true;
  response.write(roleEvent(SOAK_MODELS.talking) + EVENT);
  let count = 1;
  const timer = setInterval(() => {
    count += 1;
    if (count <= EVENTS) {
      response.write(EVENT);
      return;
    }
    clearInterval(timer);
    request.finishedAt = performance.now();
    response.end(finishEvent(SOAK_MODELS.talking) + DONE);
  }, EVENT_EACH_MS);
  return timer;
}

export async function startSoakUpstream(): Promise<SoakUpstream> {
  const requests = new Map<string, SoakRequest>();

  function answer(model: string, response: ServerResponse, request: SoakRequest): void {
    response.setHeader("content-type", "text/event-stream; charset=utf-8");
    if (model !== SOAK_MODELS.waiting) response.flushHeaders();
    let timer: NodeJS.Timeout | undefined;
    if (model === SOAK_MODELS.talking) timer = talk(response, request);
    else timer = setTimeout(() => (timer = talk(response, request)), SILENCE_MS);
    response.on("close", () => {
      clearTimeout(timer);
      request.closedAt = performance.now();
    });
  }

  const server = createServer({ noDelay: true }, (incoming: IncomingMessage, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    incoming.on("end", () => {
      const { model, user } = JSON.parse(text) as { model: string; user: string };
      const request: SoakRequest = { spoke: false };
      requests.set(user, request);
      answer(model, response, request);
    });
  });
  const url = await listen(server);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url, requests, stop };
}
