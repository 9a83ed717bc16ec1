import { join } from "node:path";
import { fetch, type Request } from "miniflare";
import { offlineEnvironment, projectRoot } from "./bundle.ts";
import { greeting } from "./greeting.ts";
import { loadSettings, readFlags, SettingsError, usage } from "./settings.ts";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(0));

try {
  await main();
} catch (error) {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exit(1);
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2));
  if (flags.help) {
    console.log(usage("npm run dev"));
    return;
  }
  const settings = await loadSettings(flags);
  const { document, secrets, bindings } = settings;
  Object.assign(process.env, offlineEnvironment);
  // What `wrangler dev` itself calls. Its command line would show the document in `ps` and its files hold the secrets.
  const { unstable_startWorker: startWorker } = await import("wrangler");
  const network = { type: "fetcher", fetcher: (request: Request) => fetch(request) };
  const worker = await startWorker({
    config: join(projectRoot, "wrangler.toml"),
    bindings: {
      GATEWAY: { type: "json", value: document },
      ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, { type: "secret_text", value }])),
      ...Object.fromEntries(bindings.map((name) => [name, network])),
    },
    dev: {
      server: { hostname: "127.0.0.1", port: flags.port },
      inspector: false,
      watch: true,
      persist: false,
      logLevel: "log",
    },
  });
  await worker.ready;
  const url = await worker.url;
  console.log(await greeting(url.origin, flags, settings));
}
