// npm run bench [-- --json] [--only NAME] [--rounds N] [--check] [--subject empty|loop|sluice]
import { parseArgs } from "node:util";
import { loadCodes, type CodeName } from "./codes.ts";
import { checkAnswers, median, MEASUREMENTS, type Numbers, type Stage } from "./measure.ts";
import { startUpstream } from "./upstream.ts";
import { schedule, startWorker } from "./workerd.ts";

/** Where each number must stay; the first is a floor, all others are ceilings. */
const LIMITS: Numbers = {
  json16_vs_empty: 0.65,
  ttft_added_ms: 0.4,
  chunk_cpu_vs_loop: 1.25,
  repair_cpu_vs_loop: 1.4,
  burst5000_vs_empty: 4,
  event5mb_vs_empty: 4,
  idle_streams_vs_empty: 2.5,
  bundle_gzip_kib: 75,
};
const FLOORS = new Set(["json16_vs_empty"]);

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "8" },
    subject: { type: "string", default: "sluice" },
  },
});

const say = (text: string): void => void (process.stderr.isTTY && process.stderr.write(text));

async function measureAll(rounds: number, only: string, subject: CodeName): Promise<Numbers> {
  const chosen = Object.entries(MEASUREMENTS).filter(
    ([name]) => only === "" || only === name || only.startsWith(`${name}_`),
  );
  if (chosen.length === 0 && only !== "bundle_gzip_kib") throw new Error(`no measurement is called ${only}`);
  const upstream = await startUpstream();
  const running: { stop(): void }[] = [upstream];
  try {
    const codes = await loadCodes(upstream.url);
    const [empty, loop, sluice] = await Promise.all([codes.empty, codes.loop, codes[subject]].map(startWorker));
    if (!empty || !loop || !sluice) throw new Error("a Worker is missing");
    running.push(empty, loop, sluice);
    for (const { name, port } of [empty, loop, sluice]) await checkAnswers(name, port);
    const stage = {
      upstreamPort: Number(new URL(upstream.url).port),
      empty,
      loop,
      sluice,
      codes: { empty: codes.empty, sluice: codes[subject] },
    };
    const taken = new Map<string, number[]>();
    // Round 0 warms the compilers up and is not counted.
    for (let round = chosen.length > 0 ? 0 : rounds + 1; round <= rounds; round += 1) {
      for (const [name, measure] of chosen) {
        say(`\rround ${round} of ${rounds}: ${name}\x1b[K`);
        if (round === 0 && name === "idle_streams") continue;
        const numbers = await measure({ ...stage, round } satisfies Stage);
        if (round === 0) continue;
        for (const [key, value] of Object.entries(numbers)) taken.set(key, [...(taken.get(key) ?? []), value]);
      }
    }
    say("\r\x1b[K");
    // Far above a third, the machine had other work to do and the ratios are worth less.
    const { ranMs, waitedMs } = schedule(sluice.pid);
    const waited = { sluice_waited_percent: (100 * waitedMs) / (ranMs + waitedMs) };
    const medians = Object.fromEntries([...taken].map(([key, values]) => [key, median(values)]));
    const bundle = only === "" || only === "bundle_gzip_kib" ? codes.gzipKib : {};
    return { ...medians, ...bundle, ...(chosen.length > 0 ? waited : {}) };
  } finally {
    for (const each of running) each.stop();
  }
}

function keeps(name: string, value: number): boolean {
  const limit = LIMITS[name];
  return limit === undefined || (FLOORS.has(name) ? value >= limit : value <= limit);
}

function row(name: string, value: number): string {
  const limit = LIMITS[name];
  const bound = limit === undefined ? "" : `${FLOORS.has(name) ? ">=" : "<="} ${limit}`;
  const verdict = limit === undefined ? "" : keeps(name, value) ? "ok" : "MISSED";
  return `${name.padEnd(24)}${String(value).padStart(10)}   ${bound.padEnd(8)}${verdict}`.trimEnd();
}

const rounds = Number(options.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds needs a whole number of at least 1");
const subject = options.subject;
if (subject !== "empty" && subject !== "loop" && subject !== "sluice")
  throw new Error(`no Worker is called ${subject}`);

const measured = await measureAll(rounds, options.only, subject);
const rounded = Object.entries(measured).map(([name, value]) => [name, Number(value.toPrecision(4))] as const);
if (options.json) console.log(JSON.stringify({ ...Object.fromEntries(rounded), rounds }));
else for (const [name, value] of rounded) console.log(row(name, value));
if (options.check && !Object.entries(measured).every(([name, value]) => keeps(name, value))) process.exitCode = 1;
