import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface VllmServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface VllmOptions {
  /** The folder `setup.sh` filled. */
  readonly folder: string;
  readonly port: number;
  readonly flags: readonly string[];
  /** Take over a healthy server that an earlier run left on this port. */
  readonly reuse: boolean;
  readonly signal: AbortSignal;
}

const startLimitMs = 240_000;
const stopLimitMs = 15_000;
const tcmalloc = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";

/** Starts one vLLM server on the tiny model and waits until it is healthy (30 to 80 s, one core). */
export async function startVllm({ folder, port, flags, reuse, signal }: VllmOptions): Promise<VllmServer> {
  const pidFile = join(folder, `${port}.pid`);
  const url = `http://127.0.0.1:${port}`;
  const left = leftBehind(pidFile, folder);
  if (left !== undefined) {
    if (reuse && (await healthy(url))) return { url, pid: left, stop: () => stopGroup(left, pidFile) };
    await stopGroup(left, pidFile);
  }
  if (await healthy(url)) throw new Error(`port ${port} is taken by a server that is not ours`);

  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, `${port}.log`), "w");
  // The module, not the `vllm` command: the command looks its version up under a package name that the CPU build lacks.
  const child = spawn(
    join(folder, "bin/python"),
    ["-m", "vllm.entrypoints.openai.api_server", ...common(folder, port), ...flags],
    {
      // A group of its own, so that the engine and its workers can be ended with it.
      detached: true,
      stdio: ["ignore", log, log],
      env: environment(folder),
    },
  );
  closeSync(log);
  const pid = child.pid;
  if (pid === undefined) throw new Error(`no Python in ${folder}: run test/vllm/setup.sh`);
  let exited = false;
  child.on("exit", () => (exited = true));
  child.unref();
  writeFileSync(pidFile, String(pid));

  const until = Date.now() + startLimitMs;
  while (!(await healthy(url))) {
    if (exited || signal.aborted || Date.now() > until) {
      await stopGroup(pid, pidFile);
      if (signal.aborted) throw new Error("interrupted");
      throw new Error(
        `vLLM on port ${port} ${exited ? "ended" : "is not healthy"}:\n${tail(join(folder, `${port}.log`))}`,
      );
    }
    await sleep(500);
  }
  letTheServerKeepUp(pid);
  return { url, pid, stop: () => stopGroup(pid, pidFile) };
}

/** The process that computes: the server's descendant which calls itself `VLLM::EngineCore`. */
export function enginePid(serverPid: number): number | undefined {
  return descendants(serverPid).find((pid) => readOr(`/proc/${pid}/cmdline`).startsWith("VLLM::EngineCore"));
}

function descendants(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const stat = readOr(`/proc/${pid}/stat`);
    // The name in brackets may hold blanks: the parent is the second field after the last bracket.
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  return [...parents.keys()].filter((descendant) => {
    for (let pid = parents.get(descendant); pid !== undefined && pid > 1; pid = parents.get(pid)) {
      if (pid === ancestor) return true;
    }
    return false;
  });
}

/** On a busy machine the engine would be done with an answer before the server has told its first word. */
function letTheServerKeepUp(serverPid: number): void {
  for (const pid of descendants(serverPid)) {
    try {
      setPriority(pid, 5);
    } catch {
      // It has ended meanwhile.
    }
  }
}

function common(folder: string, port: number): string[] {
  const model = ["--model", join(folder, "model"), "--served-model-name", "tiny", "tiny-alias"];
  const size = ["--max-model-len", "2048", "--max-num-batched-tokens", "2048", "--block-size", "32"];
  const kind = ["--dtype", "bfloat16", "--enforce-eager", "--generation-config", "vllm"];
  // One process computes. Two of them would wait for each other spinning, and leave a small machine nothing to serve with.
  const executor = ["--distributed-executor-backend", "uni"];
  return ["--host", "127.0.0.1", "--port", String(port), ...model, ...size, ...kind, ...executor];
}

function environment(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    HOME: process.env["HOME"] ?? folder,
    LD_PRELOAD: existsSync(tcmalloc) ? tcmalloc : "",
    HF_HUB_OFFLINE: "1",
    TRANSFORMERS_OFFLINE: "1",
    VLLM_NO_USAGE_STATS: "1",
    DO_NOT_TRACK: "1",
    VLLM_LOGGING_LEVEL: "WARNING",
    VLLM_CPU_KVCACHE_SPACE: "1",
    // On a CPU, that executor is only left standing with this.
    VLLM_ENABLE_V1_MULTIPROCESSING: "0",
    VLLM_CPU_OMP_THREADS_BIND: "0",
    OMP_NUM_THREADS: "1",
  };
}

async function healthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}

function leftBehind(pidFile: string, folder: string): number | undefined {
  const pid = Number(readOr(pidFile));
  // A process id may have been given to somebody else since.
  return pid > 1 && readOr(`/proc/${pid}/cmdline`).includes(join(folder, "model")) ? pid : undefined;
}

async function stopGroup(pid: number, pidFile: string): Promise<void> {
  signalGroup(pid, "SIGTERM");
  const until = Date.now() + stopLimitMs;
  while (signalGroup(pid, 0) && Date.now() < until) await sleep(100);
  signalGroup(pid, "SIGKILL");
  rmSync(pidFile, { force: true });
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

function tail(file: string): string {
  return readOr(file).split("\n").slice(-20).join("\n");
}

function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
