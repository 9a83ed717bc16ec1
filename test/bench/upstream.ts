// The loopback upstream: a vLLM without a model. As a process of its own, so that its CPU time is not the Worker's.
import { fork, type ChildProcess } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import {
  burst,
  contentEvent,
  contentEventOfBytes,
  DONE,
  finishEvent,
  FIRST_WORD,
  jsonAnswer,
  MODELS,
  roleEvent,
  type BenchModel,
} from "./workload.ts";

const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8" };

type Answer = (response: ServerResponse) => void;

const prelude = (model: string): string => roleEvent(model) + contentEvent(model, FIRST_WORD);
const ending = (model: string): string => finishEvent(model) + DONE;

function wholeStream(body: string): Answer {
  const bytes = Buffer.from(body);
  return (response) => {
    response.writeHead(200, EVENT_STREAM);
    response.end(bytes);
  };
}

const inOneWrite = (model: string, middle: string): Answer => wholeStream(prelude(model) + middle + ending(model));

function jsonAtOnce(model: string): Answer {
  const bytes = Buffer.from(jsonAnswer(model));
  const headers = { "content-type": "application/json", "content-length": bytes.length };
  return (response) => {
    response.writeHead(200, headers);
    response.end(bytes);
  };
}

function firstToken(model: string): Answer {
  const first = Buffer.from(prelude(model));
  const last = Buffer.from(ending(model));
  return (response) => {
    response.writeHead(200, EVENT_STREAM);
    response.write(first);
    setTimeout(() => response.end(last), 1);
  };
}

function paced(model: string, spoil = (event: string): string => event): Answer {
  const first = Buffer.from(prelude(model));
  const events = Array.from({ length: 64 }, (_, turn) => Buffer.from(spoil(contentEventOfBytes(model, 220, turn))));
  return (response) => {
    response.writeHead(200, EVENT_STREAM);
    response.write(first);
    let turn = 0;
    const timer = setInterval(() => response.write(events[turn++ & 63]), 2);
    response.on("close", () => clearInterval(timer));
  };
}

function idle(model: string): Answer {
  const first = Buffer.from(prelude(model));
  return (response) => {
    response.writeHead(200, EVENT_STREAM);
    response.write(first);
  };
}

const ANSWERS: Readonly<Record<BenchModel, Answer>> = {
  [MODELS.json]: jsonAtOnce(MODELS.json),
  [MODELS.first]: firstToken(MODELS.first),
  [MODELS.paced]: paced(MODELS.paced),
  [MODELS.repaired]: paced(MODELS.repaired, (event) => event.replace('"delta":{', '"delta":{"role":"assistant",')),
  [MODELS.burst]: inOneWrite(MODELS.burst, burst(MODELS.burst)),
  [MODELS.event5mb]: inOneWrite(MODELS.event5mb, contentEventOfBytes(MODELS.event5mb, 5e6)),
  [MODELS.event10mb]: inOneWrite(MODELS.event10mb, contentEventOfBytes(MODELS.event10mb, 10e6)),
  [MODELS.idle]: idle(MODELS.idle),
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    // Enough to find the name; parsing the whole body would only slow the clock down.
    const name = /"model":"([^"]*)"/.exec(Buffer.concat(pieces).toString("latin1"))?.[1];
    const found = ANSWERS[name as BenchModel] as Answer | undefined;
    if (found) found(response);
    else response.writeHead(404).end(`no such model: ${name}`);
  });
}

export function listen(server: Server): Promise<string> {
  // A connection that a Worker's pool holds must outlive the longest pause between two measurements.
  server.keepAliveTimeout = 600_000;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", 4096, () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

export interface UpstreamProcess {
  readonly url: string;
  stop(): void;
}

export async function startUpstream(): Promise<UpstreamProcess> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (message) => resolve(String(message)));
    child.once("exit", (code) => reject(new Error(`the upstream ended with ${code}`)));
  });
  return { url, stop: () => void child.kill("SIGKILL") };
}

if (process.send) {
  process.send(await listen(createServer({ noDelay: true }, answer)));
  process.on("disconnect", () => process.exit());
}
