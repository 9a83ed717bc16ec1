// One function a measurement; each call is one round and returns named numbers, whose medians the bench reports.
import { Connection, wholeAnswer } from "./client.ts";
import { startWorker, type RunningWorker, type WorkerCode } from "./workerd.ts";
import { BURST_EVENTS, DONE, FIRST_WORD, httpRequest, MODELS, requestBody, type BenchModel } from "./workload.ts";

export interface Stage {
  readonly upstreamPort: number;
  readonly empty: RunningWorker;
  readonly loop: RunningWorker;
  readonly sluice: RunningWorker;
  readonly codes: { readonly empty: WorkerCode; readonly sluice: WorkerCode };
  readonly round: number;
}

export type Numbers = Readonly<Record<string, number>>;
export type Measurement = (stage: Stage) => Promise<Numbers>;

const PACED_STREAMS = 20;
const IDLE_STREAMS = 1000;

const REQUESTS = Object.fromEntries(
  Object.values(MODELS).map((model) => [model, httpRequest(requestBody(model, model !== MODELS.json))]),
) as Record<BenchModel, Buffer>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Takes one number from each, in an order that turns with the rounds, so that a drift of the machine favours none. */
async function each<Name extends string>(
  stage: Stage,
  ports: Readonly<Record<Name, number>>,
  take: (port: number, name: Name) => Promise<number>,
): Promise<Record<Name, number>> {
  const names = Object.keys(ports) as Name[];
  const turned = stage.round % 2 === 0 ? names : names.toReversed();
  const taken = {} as Record<Name, number>;
  for (const name of turned) taken[name] = await take(ports[name], name);
  return taken;
}

const pair = (stage: Stage): { empty: number; sluice: number } => ({
  empty: stage.empty.port,
  sluice: stage.sluice.port,
});

/** A wrong answer is often a fast one. */
export async function checkAnswers(name: string, port: number): Promise<void> {
  const events = { [MODELS.first]: 4, [MODELS.burst]: BURST_EVENTS + 4, [MODELS.event5mb]: 5, [MODELS.event10mb]: 5 };
  for (const [model, count] of [[MODELS.json, 0] as const, ...Object.entries(events)]) {
    const { status, body } = await wholeAnswer(port, REQUESTS[model as BenchModel]);
    const seen = body.split("data: ").length - 1;
    const right = status === 200 && body.includes(FIRST_WORD) && seen === count && (count === 0 || body.endsWith(DONE));
    if (!right) throw new Error(`${name} answered ${model} with ${status}, ${seen} events: ${body.slice(0, 300)}`);
  }
}

/** Sixteen connections that make as many exchanges as they can, whenever they are told to, and what came of it so far. */
interface Load {
  count: number;
  seconds: number;
  cpuMs: number;
  run(ms: number): Promise<void>;
  stop(): void;
}

async function startLoad(port: number): Promise<Load> {
  const connections = await Promise.all(Array.from({ length: 16 }, () => Connection.open(port)));
  const load: Load = {
    count: 0,
    seconds: 0,
    cpuMs: 0,
    async run(ms): Promise<void> {
      const startedAt = performance.now();
      const one = async (connection: Connection): Promise<void> => {
        while (performance.now() - startedAt < ms) {
          await connection.exchange(REQUESTS[MODELS.json]);
          load.count += 1;
        }
      };
      await Promise.all(connections.map(one));
      load.seconds += (performance.now() - startedAt) / 1000;
    },
    stop(): void {
      for (const connection of connections) connection.close();
    },
  };
  return load;
}

/** Medians over `times` exchanges with each, request by request in turn: they share whatever else goes on. */
async function inTurn<Name extends "empty" | "loop" | "sluice">(
  stage: Stage,
  names: readonly Name[],
  times: number,
  take: (connection: Connection) => Promise<number>,
): Promise<Record<Name, number>> {
  const subjects = await Promise.all(
    names.map(async (name) => ({ name, connection: await Connection.open(stage[name].port), taken: [] as number[] })),
  );
  for (let at = 0; at < times; at += 1) {
    for (const { connection, taken } of subjects) taken.push(await take(connection));
    // What one of them still does behind its answer, another one waits for: not always the same.
    subjects.reverse();
  }
  for (const { connection } of subjects) connection.close();
  return Object.fromEntries(subjects.map(({ name, taken }) => [name, median(taken)])) as Record<Name, number>;
}

const BOTH = ["empty", "sluice"] as const;

const wholeMs =
  (model: BenchModel) =>
  async (connection: Connection): Promise<number> =>
    (await connection.exchange(REQUESTS[model])).ms;

async function firstWordMs(connection: Connection): Promise<number> {
  const startedAt = performance.now();
  let cameAt = Number.NaN;
  await connection.exchange(REQUESTS[MODELS.first], {
    bytes: (bytes) => {
      if (Number.isNaN(cameAt) && bytes.includes(FIRST_WORD)) cameAt = performance.now();
    },
  });
  return cameAt - startedAt;
}

/** Microseconds of CPU, over all threads of the process, that one event of a paced stream costs. */
async function chunkCpuUs(worker: RunningWorker, model: BenchModel = MODELS.paced): Promise<number> {
  let events = 0;
  const watcher = {
    bytes: (bytes: Buffer): void => {
      for (let at = bytes.indexOf("data: "); at >= 0; at = bytes.indexOf("data: ", at + 6)) events += 1;
    },
  };
  const open = await Promise.all(Array.from({ length: PACED_STREAMS }, () => Connection.open(worker.port)));
  // These streams never end by themselves; closing the sockets below is what rejects them.
  for (const connection of open) connection.exchange(REQUESTS[model], watcher).catch(() => undefined);
  await wait(250);
  const [eventsBefore, cpuBefore] = [events, worker.cpuMs()];
  await wait(1200);
  const [eventsAfter, cpuAfter] = [events, worker.cpuMs()];
  for (const connection of open) connection.reset();
  await wait(100);
  return ((cpuAfter - cpuBefore) * 1000) / (eventsAfter - eventsBefore);
}

async function startIdleStream(port: number): Promise<Connection> {
  const connection = await Connection.open(port);
  await new Promise<void>((started, failed) => {
    const bytes = (each: Buffer): void => {
      if (each.includes(FIRST_WORD)) started();
    };
    connection.exchange(REQUESTS[MODELS.idle], { bytes }).catch(failed);
  });
  return connection;
}

/** In a process of its own, because memory that a process once had it does not give back. */
async function idleGrowthMb(code: WorkerCode): Promise<number> {
  const worker = await startWorker(code);
  try {
    const warming = await startLoad(worker.port);
    await warming.run(150);
    warming.stop();
    for (let at = 0; at < 100; at += 1) (await startIdleStream(worker.port)).close();
    await wait(200);
    const before = worker.rssBytes();
    const open: Connection[] = [];
    while (open.length < IDLE_STREAMS) {
      open.push(...(await Promise.all(Array.from({ length: 50 }, () => startIdleStream(worker.port)))));
    }
    await wait(200);
    const growth = worker.rssBytes() - before;
    for (const connection of open) connection.close();
    return growth / 1e6;
  } finally {
    worker.stop();
  }
}

export const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  json16: async (stage) => {
    const ports = { direct: stage.upstreamPort, ...pair(stage) };
    const loads = {
      direct: await startLoad(ports.direct),
      empty: await startLoad(ports.empty),
      sluice: await startLoad(ports.sluice),
    };
    // Short slices in turn: what else the machine does then falls on all of them alike.
    for (let slice = 0; slice < 5; slice += 1) {
      await each({ ...stage, round: stage.round + slice }, ports, async (_port, name) => {
        const cpuMs = (): number => (name === "direct" ? 0 : stage[name].cpuMs());
        const before = cpuMs();
        await loads[name].run(120);
        loads[name].cpuMs += cpuMs() - before;
        return loads[name].count;
      });
    }
    for (const load of Object.values(loads)) load.stop();
    const rate = ({ count, seconds }: Load): number => count / seconds;
    const cpuUs = ({ count, cpuMs }: Load): number => (cpuMs * 1000) / count;
    return {
      json16_vs_empty: rate(loads.sluice) / rate(loads.empty),
      json16_direct_rps: rate(loads.direct),
      json16_empty_rps: rate(loads.empty),
      json16_sluice_rps: rate(loads.sluice),
      json16_empty_cpu_us: cpuUs(loads.empty),
      json16_sluice_cpu_us: cpuUs(loads.sluice),
    };
  },
  json1: async (stage) => {
    const { empty, sluice } = await inTurn(stage, BOTH, 200, wholeMs(MODELS.json));
    return { json1_added_ms: sluice - empty, json1_empty_ms: empty };
  },
  ttft: async (stage) => {
    const { empty, loop, sluice } = await inTurn(stage, ["empty", "loop", "sluice"], 150, firstWordMs);
    return { ttft_added_ms: sluice - empty, ttft_loop_added_ms: loop - empty, ttft_empty_ms: empty };
  },
  chunk_cpu: async (stage) => {
    const ports = { ...pair(stage), loop: stage.loop.port };
    const { empty, loop, sluice } = await each(stage, ports, (_port, name) => chunkCpuUs(stage[name]));
    return {
      chunk_cpu_vs_loop: sluice / loop,
      chunk_cpu_vs_native: sluice / empty,
      chunk_cpu_native_us: empty,
      chunk_cpu_loop_us: loop,
      chunk_cpu_sluice_us: sluice,
    };
  },
  repair_cpu: async (stage) => {
    const ports = { loop: stage.loop.port, sluice: stage.sluice.port };
    const { loop, sluice } = await each(stage, ports, (_port, name) => chunkCpuUs(stage[name], MODELS.repaired));
    return { repair_cpu_vs_loop: sluice / loop };
  },
  burst5000: async (stage) => {
    const { empty, sluice } = await inTurn(stage, BOTH, 15, wholeMs(MODELS.burst));
    return { burst5000_vs_empty: sluice / empty, burst5000_ms: sluice, burst5000_empty_ms: empty };
  },
  event5mb: async (stage) => {
    const five = await inTurn(stage, BOTH, 3, wholeMs(MODELS.event5mb));
    const ten = await inTurn(stage, BOTH, 3, wholeMs(MODELS.event10mb));
    return {
      event5mb_vs_empty: five.sluice / five.empty,
      event10mb_vs_5mb: ten.sluice / five.sluice,
      event5mb_ms: five.sluice,
      event5mb_empty_ms: five.empty,
    };
  },
  idle_streams: async (stage) => {
    const { empty, sluice } = await each(stage, pair(stage), (_port, name) => idleGrowthMb(stage.codes[name]));
    return { idle_streams_vs_empty: sluice / empty, idle_streams_empty_mb: empty, idle_streams_sluice_mb: sluice };
  },
};
