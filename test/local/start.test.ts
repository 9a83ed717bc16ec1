import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, describe, expect, test } from "vitest";
import { projectRoot } from "./bundle.ts";

const limitMs = 60_000;
const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  }
});

interface Run {
  readonly npm: ChildProcess;
  output(): string;
  /** Resolves to the address that is printed. */
  ready(): Promise<string>;
  /** Resolves to the exit code. */
  end(): Promise<number | null>;
}

function npmStart(...args: string[]): Run {
  const npm = spawn("npm", ["start", "--silent", "--", ...args], {
    cwd: projectRoot,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(npm);
  let text = "";
  npm.stdout.on("data", (bytes) => (text += bytes));
  npm.stderr.on("data", (bytes) => (text += bytes));
  const ended = once(npm, "close");
  return {
    npm,
    output: () => text,
    async ready(): Promise<string> {
      const address = (): string | undefined => /ready at (\S+)\/v1 /.exec(text)?.[1];
      await expect.poll(() => address() ?? npm.exitCode, { timeout: limitMs }).not.toBeNull();
      const url = address();
      if (url === undefined) throw new Error(`npm start ended:\n${text}`);
      return url;
    },
    end: async () => (await ended)[0] as number | null,
  };
}

/** Ids of every process below `pid` that still runs (one that has ended may stay in the table for a while). */
function descendants(pid: number): number[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/));
  const below = (parent: number): number[] =>
    rows.filter(([, ppid]) => Number(ppid) === parent).flatMap(([id]) => [Number(id), ...below(Number(id))]);
  return below(pid).filter((id) => !rows.find(([row]) => Number(row) === id)?.[2]?.startsWith("Z"));
}

function runs(pid: number): boolean {
  try {
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .startsWith("Z");
  } catch {
    return false;
  }
}

async function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const messages = [{ role: "user" as const, content: "one two three four" }];

describe("npm start", () => {
  test("answers the openai client, whole and streamed", { timeout: limitMs }, async () => {
    const run = npmStart("--port", "0");
    const client = new OpenAI({ baseURL: `${await run.ready()}/v1`, apiKey: "sk-local", maxRetries: 0 });
    expect((await client.models.list()).data.length).toBeGreaterThan(0);
    for (const model of ["local/echo", "local/no-stream", "local/only-stream"]) {
      const whole = await client.chat.completions.create({ model, messages });
      expect(whole.choices[0]).toMatchObject({ message: { content: "one two three four" }, finish_reason: "stop" });
      const streamed = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
      expect(streamed.choices[0]).toMatchObject({ message: { content: "one two three four" }, finish_reason: "stop" });
    }
    const cut = client.chat.completions.stream({ model: "local/cut", messages }).finalChatCompletion();
    await expect(cut).rejects.toMatchObject({ code: "upstream_cut" });
    expect(run.output()).not.toContain("one two");
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "ends on %s sent to npm alone, with a request hanging, and leaves nothing behind",
    { timeout: limitMs },
    async (signal) => {
      const run = npmStart("--port", "0");
      const url = await run.ready();
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-local", maxRetries: 0 });
      const hanging = await client.chat.completions.create({ model: "local/stall", messages, stream: true });
      const chunks = hanging[Symbol.asyncIterator]();
      await chunks.next();
      const children = descendants(run.npm.pid ?? 0);
      expect(children.length).toBeGreaterThan(1);

      run.npm.kill(signal);
      await run.end();
      await expect.poll(() => children.filter(runs), { timeout: 3000 }).toEqual([]);
      expect(await accepts(url)).toBe(false);
      await expect(async () => {
        while (!(await chunks.next()).done);
      }).rejects.toThrow();
    },
  );

  test("says so when the port is in use", { timeout: limitMs }, async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const run = npmStart("--port", String(port));
    expect(await run.end()).toBe(1);
    expect(run.output().trim()).toBe(`Port ${port} is in use. Choose another one with --port N.`);
    other.close();
  });

  test("ends with 1 and the reason on a wrong flag or document", { timeout: limitMs }, async () => {
    const flag = npmStart("--prot", "1");
    expect(await flag.end()).toBe(1);
    expect(flag.output().trim()).toBe("Unknown option '--prot'. Options come behind a `--`; see --help.");

    const folder = await mkdtemp(join(tmpdir(), "sluice-start-"));
    const path = join(folder, "gateway.json");
    await writeFile(path, JSON.stringify({ upstreams: { gpu: { base_url: 5 } } }));
    const invalid = npmStart("--port", "0", "--config", path);
    expect(await invalid.end()).toBe(1);
    expect(invalid.output()).toContain("upstreams.gpu.base_url: must be string");
    await rm(folder, { recursive: true });
  });
});
