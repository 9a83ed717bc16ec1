import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startGateway } from "../local/gateway.ts";
import { gatewayConfig, secrets, serverKey } from "./config.ts";
import { rigVariable, type Rig, type ServerUrls } from "./rig.ts";
import { startVllm } from "./server.ts";

const usage = `npm run test:vllm -- [--direct] [--keep] [--port N] [-- vitest arguments]
  --direct   speak to the servers themselves, without the gateway (its own promises are not checked then)
  --keep     leave the servers running, and use those that an earlier run left
  --port N   N, N+1 and N+2 are the servers', N+10 the gateway's (default 8700)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    direct: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    port: { type: "string", default: "8700" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = fileURLToPath(new URL("../../.vllm", import.meta.url));
const port = Number(values.port);
const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => interrupted.abort());

const parserFlags = [
  ["--api-key", serverKey],
  ["--max-num-seqs", "8"],
  ["--enable-request-id-headers", "--enable-prompt-tokens-details", "--enable-auto-tool-choice"],
  ["--tool-call-parser", "hermes"],
  ["--reasoning-parser", "qwen3"],
  ["--structured-outputs-config", '{"enable_in_reasoning": true}'],
].flat();
// Two at once and two waiting, so that a queue and its end are within reach; comments, to see that they stay inside.
const plainFlags = ["--max-num-seqs", "2", "--max-num-queued-reqs", "4", "--sse-keep-alive-interval", "1"];
const poolingFlags = ["--runner", "pooling", "--convert", "embed"];

/** Runs a command to its end, or ends it when we are interrupted. */
async function runChild(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", env });
  const end = (): boolean => child.kill("SIGTERM");
  interrupted.signal.addEventListener("abort", end);
  const [code] = (await once(child, "exit")) as [number | null];
  interrupted.signal.removeEventListener("abort", end);
  return interrupted.signal.aborted ? 130 : (code ?? 1);
}

const stops: (() => Promise<void>)[] = [];
let code = 1;
try {
  code = await runChild("bash", [`${here}setup.sh`, folder], process.env);
  if (code === 0) {
    console.log("starting three vLLM servers (one to three minutes) ...");
    const start = async (at: number, flags: readonly string[]): ReturnType<typeof startVllm> => {
      const server = await startVllm({ folder, port: at, flags, reuse: values.keep, signal: interrupted.signal });
      if (!values.keep) stops.push(server.stop);
      return server;
    };
    const starts = [start(port, parserFlags), start(port + 1, plainFlags), start(port + 2, poolingFlags)] as const;
    // Should one fail, the others are still to be stopped.
    await Promise.allSettled(starts);
    const [parsers, plain, pooling] = await Promise.all(starts);
    const urls = { parsersUrl: parsers.url, plainUrl: plain.url, poolingUrl: pooling.url };
    const rig: Rig = {
      ...urls,
      plainPid: plain.pid,
      ...(await gatewayFor(urls)),
    };
    const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
    const args = [vitest, "run", "--config", `${here}vitest.config.ts`, ...positionals];
    code = await runChild(process.execPath, args, { ...process.env, [rigVariable]: JSON.stringify(rig) });
  }
} catch (error) {
  code = interrupted.signal.aborted ? 130 : 1;
  console.error(error instanceof Error ? error.message : error);
} finally {
  await Promise.allSettled(stops.map((stop) => stop()));
}
process.exit(code);

async function gatewayFor(urls: ServerUrls): Promise<{ gatewayUrl?: string }> {
  if (values.direct) return {};
  const gateway = await startGateway({
    config: gatewayConfig(urls),
    secrets,
    port: port + 10,
    relay: true,
  });
  stops.push(() => gateway.stop());
  return { gatewayUrl: gateway.url };
}
