import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { unstable_readConfig as readConfig } from "wrangler";
import { parseDocument } from "../../src/tenants/document.ts";
import { projectRoot } from "./bundle.ts";

// `npm run deploy`: what `wrangler deploy` would let through and production would choke on is refused here.
const MAX_VARIABLE_BYTES = 5 * 1024;

const { values } = parseArgs({
  strict: false,
  options: { env: { type: "string", short: "e" }, config: { type: "string", short: "c" } },
});
const config = readConfig({
  config: typeof values.config === "string" ? values.config : join(projectRoot, "wrangler.toml"),
  ...(typeof values.env === "string" ? { env: values.env } : {}),
});

const faults = faultsOf(config.vars["GATEWAY"]);
if (faults.length > 0) {
  for (const fault of faults) console.error(`vars.GATEWAY: ${fault}`);
  process.exit(1);
}
if (
  config.vars["GATEWAY"] === undefined &&
  !config.kv_namespaces.some(({ binding }: { binding: string }) => binding === "CONFIG")
)
  console.warn(
    "There is neither a variable GATEWAY nor a KV binding CONFIG: the Worker will answer 503 until there is one.",
  );
const wrangler = join(projectRoot, "node_modules", "wrangler", "bin", "wrangler.js");
const child = spawn(process.execPath, [wrangler, "deploy", ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { WRANGLER_SEND_METRICS: "false", WRANGLER_SEND_ERROR_REPORTS: "false", ...process.env },
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("close", (code) => process.exit(code ?? 1));

function faultsOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_VARIABLE_BYTES) {
    return [
      `the document has ${bytes} bytes, a variable holds ${MAX_VARIABLE_BYTES}. Put it into KV: \`npx wrangler kv namespace create CONFIG\`, ` +
        "add the [[kv_namespaces]] that it prints to wrangler.toml, then `npx wrangler kv key put gateway --path gateway.json --binding CONFIG --remote`.",
    ];
  }
  let document: unknown = value;
  try {
    if (typeof value === "string") document = JSON.parse(value);
  } catch {
    return ["the document is not JSON"];
  }
  const checked = parseDocument(document);
  return "faults" in checked ? checked.faults : [];
}
