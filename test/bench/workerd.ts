// One Worker in one `workerd serve`: no proxy Worker, no inspector, nothing between the socket and the code.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

export interface WorkerCode {
  readonly name: string;
  readonly modules: readonly { readonly name: string; readonly contents: string }[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: Readonly<Record<string, unknown>>;
}

export interface RunningWorker {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** CPU time of all threads so far, in milliseconds. */
  cpuMs(): number;
  rssBytes(): number;
  stop(): void;
}

const WORKERD = (createRequire(import.meta.url)("workerd") as { readonly default: string }).default;

function capnp(worker: WorkerCode): string {
  const text = (value: string): string => JSON.stringify(value);
  const modules = worker.modules.map(({ name }, at) => `(name = ${text(name)}, esModule = embed "module-${at}.js")`);
  const bindings = Object.entries(worker.bindings).map(([name, value]) =>
    typeof value === "string"
      ? `(name = ${text(name)}, text = ${text(value)})`
      : `(name = ${text(name)}, json = ${text(JSON.stringify(value))})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [${modules.join(", ")}],
      bindings = [${bindings.join(", ")}],
      compatibilityDate = ${text(worker.compatibilityDate)},
      compatibilityFlags = [${worker.compatibilityFlags.map(text).join(", ")}],
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

async function listeningPort(child: ChildProcess): Promise<number> {
  let seen = "";
  for await (const piece of child.stdio[3] as Readable) {
    seen += String(piece);
    const line = seen.split("\n").find((each) => each.includes('"listen"'));
    if (line) return (JSON.parse(line) as { port: number }).port;
  }
  throw new Error("workerd ended before it listened");
}

/** Over all threads of a process: the time they ran, and the time they could have run but had to wait for a processor. */
export function schedule(pid: number): { readonly ranMs: number; readonly waitedMs: number } {
  const tasks = `/proc/${pid}/task`;
  let [ran, waited] = [0, 0];
  for (const task of readdirSync(tasks)) {
    const [ranNs, waitedNs] = readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ");
    ran += Number(ranNs);
    waited += Number(waitedNs);
  }
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

function rssBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) * 1024;
}

export async function startWorker(worker: WorkerCode): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  for (const [at, { contents }] of worker.modules.entries()) writeFileSync(join(folder, `module-${at}.js`), contents);
  const config = join(folder, "config.capnp");
  writeFileSync(config, capnp(worker));
  const child = spawn(WORKERD, ["serve", config, "--control-fd=3"], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = (): void => {
    process.off("exit", kill);
    kill();
  };
  try {
    const port = await listeningPort(child);
    const pid = child.pid as number;
    return { name: worker.name, port, pid, cpuMs: () => schedule(pid).ranMs, rssBytes: () => rssBytes(pid), stop };
  } catch (reason) {
    stop();
    throw reason;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
