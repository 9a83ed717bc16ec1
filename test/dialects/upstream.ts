// A local upstream that speaks one dialect.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Dialect, Scene } from "./dialect.ts";
import { SAYINGS, type SceneName } from "./scenes.ts";

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly n?: number;
  readonly logprobs?: boolean;
}

export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body & Readonly<Record<string, unknown>>;
}

export interface Upstream {
  readonly origin: string;
  readonly seen: Seen[];
  stop(): Promise<void>;
}

/** @param many whether it can give several choices at once; else each request gets the next one */
export async function startUpstream(dialect: Dialect, many: boolean): Promise<Upstream> {
  const seen: Seen[] = [];
  let turn = 0;

  const sceneOf = (name: SceneName, { n = 1, logprobs = false, stream_options }: Body): Scene => {
    const sayings = SAYINGS[name];
    const choices = many ? sayings.slice(0, n) : sayings.slice(turn % sayings.length).slice(0, 1);
    turn++;
    return { choices, logprobs, usage: stream_options?.include_usage === true };
  };
  /** A stream up to its second text, and what the server's failure looks like. */
  const broken = (stream: string): string => {
    const blocks = stream.split(/(?<=\n\n)/);
    const told = blocks.flatMap((block, i) => (/"content":"[^"]/.test(block) ? [i] : []));
    return blocks.slice(0, told[1]).join("") + dialect.failure;
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Seen["body"];
      const { url: path = "", headers } = request;
      seen.push({ path, headers, body });
      const name = body.messages.at(-1)?.content as SceneName;
      if (name === "error") {
        response.writeHead(dialect.refusal.status, { "content-type": "application/json" }).end(dialect.refusal.body);
        return;
      }
      const scene = sceneOf(name, body);
      if (body.stream !== true) {
        response.writeHead(200, { "content-type": "application/json" }).end(dialect.whole(scene));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      const stream = dialect.stream(scene);
      // In two writes, the first of which ends inside of an event.
      const bytes = Buffer.from(name === "failure" ? broken(stream) : stream);
      response.write(bytes.subarray(0, 700));
      response.end(bytes.subarray(700));
    });
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((settle) => server.close(settle));
    },
  };
}
