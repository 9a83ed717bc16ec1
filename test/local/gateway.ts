import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import { bundleWorker, projectRoot } from "./bundle.ts";
import { startRelay } from "./relay.ts";

export interface GatewayOptions {
  /** The configuration document: an object, or JSON text. Bound as `GATEWAY`; nothing is bound when it is left out. */
  readonly config?: unknown;
  /** Values of the secrets that the document names. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Puts the relay before the gateway, so that an orderly close is noticed during a silence too. */
  readonly relay?: boolean;
  /** The text at key `gateway` of a KV namespace bound as `CONFIG`; there is no such binding without it. */
  readonly kv?: string;
  readonly serviceBindings?: NonNullable<V4WorkerOptions["serviceBindings"]>;
  readonly onLog?: (line: string) => void;
}

export interface Gateway {
  /** Without a path or trailing slash. */
  readonly url: string;
  /** The workerd process. */
  readonly pid: number;
  /** Everything the Worker and the runtime have written so far, one line each. */
  logs(): string;
  /** Replaces the document in KV. */
  putKv(text: string): Promise<void>;
  stop(): Promise<void>;
}

interface KvWriter {
  put(key: string, value: string): Promise<void>;
}

const graceMs = 2000;

// Miniflare does not tell the pid of the workerd it starts. Node announces every child in the async context of the
// `spawn` call, which leads back to the gateway that is being started, however many start at once.
const starting = new AsyncLocalStorage<ChildProcess[]>();
subscribe("child_process", (message) => {
  starting.getStore()?.push((message as { process: ChildProcess }).process);
});

/** Runs the production bundle in Miniflare. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const bundle = await bundleWorker();
  const lines: string[] = [];
  const children: ChildProcess[] = [];
  const workerd = (): ChildProcess | undefined => children.findLast((child) => child.spawnfile.includes("workerd"));
  const port = options.port ?? 0;
  const bindings = { ...options.secrets, ...(options.config === undefined ? {} : { GATEWAY: options.config }) };
  const settings = convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    handleStructuredLogs: ({ level, message }) => {
      const line = `${level}: ${message}`;
      lines.push(line);
      options.onLog?.(line);
    },
    name: "sluice",
    modulesRoot: projectRoot,
    modules: bundle.modules.map(({ name, contents }) => ({
      type: "ESModule",
      path: resolve(projectRoot, name),
      contents,
    })),
    compatibilityDate: bundle.compatibilityDate,
    compatibilityFlags: [...bundle.compatibilityFlags],
    bindings: bindings as NonNullable<V4WorkerOptions["bindings"]>,
    ...(options.kv === undefined ? {} : { kvNamespaces: ["CONFIG"] }),
    ...(options.serviceBindings === undefined ? {} : { serviceBindings: options.serviceBindings }),
    // Miniflare's own entry adds a hop that costs two thirds of the throughput and hides disconnects.
    unsafeDirectSockets: [{ host: "127.0.0.1", port: options.relay === true ? 0 : port }],
  });
  const miniflare = starting.run(children, () => new Miniflare(settings));

  const stop = async (): Promise<void> => {
    await Promise.race([miniflare.dispose().catch(() => undefined), wait(graceMs, undefined, { ref: false })]);
    // On SIGTERM workerd would wait for the requests that still hang.
    for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  };

  try {
    await miniflare.ready;
    const putKv = async (text: string): Promise<void> => {
      // Typed by a package that this project does without.
      const namespace = (await miniflare.getKVNamespace("CONFIG")) as unknown as KvWriter;
      await namespace.put("gateway", text);
    };
    if (options.kv !== undefined) await putKv(options.kv);
    const direct = (await miniflare.unsafeGetDirectURL()).origin;
    const relay = options.relay === true ? await startRelay(direct, { port }) : undefined;
    return {
      url: relay?.url ?? direct,
      get pid(): number {
        return workerd()?.pid ?? -1;
      },
      logs: () => lines.join("\n"),
      putKv,
      async stop(): Promise<void> {
        await relay?.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
