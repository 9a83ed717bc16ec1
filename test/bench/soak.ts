// npm run soak [-- --seconds N] [--streams N] [--subject empty|loop|sluice]
// Many streams at once whose clients leave when they like; what they leave behind upstream must be gone in a second.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { startRelay } from "../local/relay.ts";
import { Connection } from "./client.ts";
import { loadCodes } from "./codes.ts";
import { SOAK_MODELS, startSoakUpstream, type SoakUpstream } from "./soak-upstream.ts";
import { schedule, startWorker } from "./workerd.ts";
import { httpRequest, requestBody } from "./workload.ts";

const LATE_MS = 1000;
const LONGEST_STAY_MS = 6000;
const WAYS = ["reset", "close"] as const;
const SILENT = [SOAK_MODELS.silent, SOAK_MODELS.waiting];

interface Departure {
  readonly user: string;
  readonly way: (typeof WAYS)[number];
  readonly at: number;
}

interface Tally {
  streams: number;
  whole: number;
  readonly failures: string[];
  readonly departures: Departure[];
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One stream: a third are silent at first, half leave by reset, half by an orderly close through the relay. */
async function oneStream(
  turn: number,
  ports: Readonly<Record<Departure["way"], number>>,
  endsAt: number,
  tally: Tally,
): Promise<void> {
  const user = `soak-${turn}`;
  const way = WAYS[turn % 2] ?? "reset";
  const model = turn % 3 === 0 ? (SILENT[(turn / 3) % 2] ?? SOAK_MODELS.silent) : SOAK_MODELS.talking;
  const connection = await Connection.open(ports[way]);
  let received = "";
  const bytes = (each: Buffer): void => void (received = (received + each.toString("latin1")).slice(-64));
  let left = false;
  const answered = connection.exchange(httpRequest(requestBody(model, true, user)), { bytes }).then(
    ({ status }) => {
      if (status === 200 && received.includes("data: [DONE]")) tally.whole += 1;
      else tally.failures.push(`${user}: ${status} ${received}`);
      connection.close();
    },
    (reason: unknown) => {
      if (!left) tally.failures.push(`${user}: ${String(reason)}`);
    },
  );
  const stayMs = Math.min(Math.random() * LONGEST_STAY_MS, Math.max(0, endsAt - performance.now()));
  const leaving = wait(stayMs).then(() => "leave" as const);
  if ((await Promise.race([answered, leaving])) !== "leave") return;
  left = true;
  tally.departures.push({ user, way, at: performance.now() });
  connection[way]();
}

interface Verdict {
  readonly delays: readonly number[];
  readonly silentDelays: readonly number[];
  readonly late: number;
  readonly open: number;
}

function judge(upstream: SoakUpstream, tally: Tally): Verdict {
  const delays: number[] = [];
  const silentDelays: number[] = [];
  const now = performance.now();
  for (const { user, at } of tally.departures) {
    const request = upstream.requests.get(user);
    // Gone before the gateway asked, or after the upstream had said everything: nothing was abandoned.
    if (!request || (request.finishedAt ?? Infinity) <= at) continue;
    const delay = (request.closedAt ?? now) - at;
    delays.push(delay);
    if (!request.spoke) silentDelays.push(delay);
  }
  const open = [...upstream.requests.values()].filter(({ closedAt }) => closedAt === undefined).length;
  return { delays, silentDelays, late: delays.filter((delay) => delay > LATE_MS).length, open };
}

function waited(pid: number): string {
  const { ranMs, waitedMs } = schedule(pid);
  return `${Math.round((100 * waitedMs) / (ranMs + waitedMs))} %`;
}

function quantile(values: readonly number[], part: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)} ms`;
}

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    streams: { type: "string", default: "200" },
    subject: { type: "string", default: "sluice" },
  },
});
const subject = options.subject;
if (subject !== "empty" && subject !== "loop" && subject !== "sluice")
  throw new Error(`no Worker is called ${subject}`);

const upstream = await startSoakUpstream();
const gateway = await startWorker((await loadCodes(upstream.url))[subject]);
const relay = await startRelay(`http://127.0.0.1:${gateway.port}`);
const ports = { reset: gateway.port, close: Number(new URL(relay.url).port) };
const tally: Tally = { streams: 0, whole: 0, failures: [], departures: [] };
const lag = monitorEventLoopDelay({ resolution: 10 });
lag.enable();
try {
  const rssBefore = gateway.rssBytes();
  const endsAt = performance.now() + Number(options.seconds) * 1000;
  await Promise.all(
    Array.from({ length: Number(options.streams) }, async () => {
      while (performance.now() < endsAt) await oneStream(tally.streams++, ports, endsAt, tally);
    }),
  );
  await wait(LATE_MS);
  const { delays, silentDelays, late, open } = judge(upstream, tally);
  const resets = tally.departures.filter(({ way }) => way === "reset").length;
  console.log(
    `soak of ${subject}: ${options.seconds} s, ${options.streams} streams at once, ${tally.streams} in all; ` +
      `${tally.whole} read to the end, ${tally.departures.length} left (${resets} by reset, ` +
      `${tally.departures.length - resets} by close), ${delays.length} abandoned upstream (${silentDelays.length} silent)`,
  );
  console.log(
    `abandoned requests closed after p50 ${quantile(delays, 0.5)}, p99 ${quantile(delays, 0.99)}, ` +
      `max ${quantile(delays, 1)} (silent: p99 ${quantile(silentDelays, 0.99)}, max ${quantile(silentDelays, 1)}); ` +
      `later than ${LATE_MS} ms: ${late}; still open: ${open}; failed: ${tally.failures.length}; ` +
      `memory ${(rssBefore / 1e6).toFixed(0)} to ${(gateway.rssBytes() / 1e6).toFixed(0)} MB; ` +
      `own clock at most ${(lag.max / 1e6).toFixed(0)} ms late`,
  );
  // On a machine that is busy with other things these two say so, and the delays above are its own.
  console.log(
    `waited for a processor: gateway ${waited(gateway.pid)} of its time, this process ${waited(process.pid)}`,
  );
  for (const failure of tally.failures.slice(0, 5)) console.log(`failed: ${failure}`);
  if (late > 0 || open > 0 || tally.failures.length > 0 || delays.length === 0) process.exitCode = 1;
} finally {
  lag.disable();
  await relay.stop();
  gateway.stop();
  upstream.stop();
}
