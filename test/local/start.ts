import { startGateway } from "./gateway.ts";
import { greeting } from "./greeting.ts";
import { loadSettings, readFlags, SettingsError, usage } from "./settings.ts";

// Registered before Miniflare adds its own, which then ends workerd in an exit hook: whatever hangs, nothing is left.
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
    console.log(usage("npm start"));
    return;
  }
  const settings = await loadSettings(flags);
  const { document, secrets, bindings } = settings;
  // A private network is reached through a binding in production. Here it is reached from this machine, or not at all.
  const network = { network: { allow: ["public", "private"] } };
  const gateway = await startGateway({
    config: document,
    secrets,
    port: flags.port,
    relay: true,
    serviceBindings: Object.fromEntries(bindings.map((name) => [name, network])),
    onLog: (line) => console.error(line),
  }).catch((error: unknown) => {
    const inUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    throw inUse ? new SettingsError(`Port ${flags.port} is in use. Choose another one with --port N.`) : error;
  });
  console.log(await greeting(gateway.url, flags, settings));
}
