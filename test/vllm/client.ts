import OpenAI from "openai";
import { afterEach } from "vitest";
import { readCompletion, readErrorBody, readStream, type Problem } from "../conformance/strict.ts";
import { gatewayKey, serverKey } from "./config.ts";
import { rigFromEnvironment } from "./rig.ts";

export const rig = rigFromEnvironment();
export const viaGateway = rig.gatewayUrl !== undefined;

/** What the network brought for one request. */
export interface Exchange {
  readonly requestBody: string;
  readonly response: Response;
  readonly bytes: Uint8Array[];
  /** Read to its end: what a leaving client missed is not judged. */
  complete: boolean;
}

const exchanges: Exchange[] = [];

export async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const exchange: Exchange = { requestBody: String(init?.body), response, bytes: [], complete: false };
  exchanges.push(exchange);
  if (response.body === null) return response;
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        exchange.bytes.push(bytes);
        controller.enqueue(bytes);
      },
      flush() {
        exchange.complete = true;
      },
    }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

const direct = { tiny: rig.parsersUrl, plain: rig.plainUrl };

/** The official client, its bytes recorded. `server` matters to `--direct` alone: the gateway goes by the model's name. */
export function newClient(server: "parsers" | "plain" = "parsers", fetcher: typeof fetch = recordingFetch): OpenAI {
  const baseURL = `${rig.gatewayUrl ?? direct[server === "plain" ? "plain" : "tiny"]}/v1`;
  return new OpenAI({ baseURL, apiKey: viaGateway ? gatewayKey : serverKey, maxRetries: 0, fetch: fetcher });
}

export function lastExchange(): Exchange {
  const last = exchanges.at(-1);
  if (last === undefined) throw new Error("nothing was asked yet");
  return last;
}

export function textOf(exchange: Exchange): string {
  return Buffer.concat(exchange.bytes).toString("utf8");
}

// Every answer of every test is held against the strict rules, whatever else the test looks at.
afterEach(() => {
  const asked = exchanges.splice(0);
  if (!viaGateway) return;
  const faults = asked
    .filter(({ complete }) => complete)
    .flatMap((exchange) => problemsOf(exchange).map((problem) => ({ problem, exchange })));
  if (faults.length === 0) return;
  const lines = faults.map(
    ({ problem, exchange }) =>
      `${problem.rule}: ${problem.message}\n  sent ${exchange.requestBody}\n  got ${textOf(exchange)}`,
  );
  throw new Error(`the answer breaks a rule:\n${lines.join("\n")}`);
});

function problemsOf({ requestBody, response, bytes }: Exchange): readonly Problem[] {
  const body = Buffer.concat(bytes);
  if (response.status !== 200) return readErrorBody(body).problems;
  const asked = JSON.parse(requestBody) as { stream?: boolean; stream_options?: { include_usage?: boolean } };
  const asksStream = asked.stream === true;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (asksStream !== isStream)
    return [{ rule: "content-type", message: response.headers.get("content-type") ?? "none" }];
  return isStream
    ? readStream(body, { includeUsage: asked.stream_options?.include_usage === true }).problems
    : readCompletion(body).problems;
}
