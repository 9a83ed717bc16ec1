import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { text } from "node:stream/consumers";

/** One ES module of the bundle; `name` is its path relative to the main module. */
export interface BundleModule {
  readonly name: string;
  readonly contents: string;
}

/** What `npm run deploy` would upload. The main module comes first. */
export interface Bundle {
  readonly modules: readonly BundleModule[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

interface Manifest {
  readonly main: string;
  readonly date: string;
  readonly flags: readonly string[];
}

export const projectRoot = resolve(import.meta.dirname, "../..");
const cacheFolder = join(projectRoot, ".wrangler", "bundles");
const unusedAfterMs = 24 * 60 * 60 * 1000;
const manifestName = "manifest.json";

/** Keeps wrangler from asking anything of a terminal or of the network, and from writing logs. */
export const offlineEnvironment: Readonly<Record<string, string>> = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_WRITE_LOGS: "false",
  DO_NOT_TRACK: "1",
  CI: "1",
};

const built = new Map<string, Promise<Bundle>>();

/** Builds the production bundle, or returns the one already built from the same sources (here or in another process). */
export async function bundleWorker(): Promise<Bundle> {
  const key = await fingerprint();
  let bundle = built.get(key);
  if (bundle === undefined) {
    bundle = loadOrBuild(join(cacheFolder, key));
    built.set(key, bundle);
    bundle.catch(() => built.delete(key));
  }
  return bundle;
}

async function fingerprint(): Promise<string> {
  // What is generated from the others says nothing of its own.
  const sources = (await filesUnder(join(projectRoot, "src"))).filter((path) => !/\.d\.ts$|\.js$/.test(path));
  const settings = [
    "wrangler.toml",
    "tsconfig.json",
    "package.json",
    "package-lock.json",
    "test/local/build-modules.mjs",
  ];
  const hash = createHash("sha256");
  for (const path of [...sources, ...settings.map((name) => join(projectRoot, name))]) {
    hash.update(`${relative(projectRoot, path)}\0`);
    hash.update(await readFile(path).catch(() => ""));
    hash.update("\0");
  }
  return hash.digest("hex").slice(0, 24);
}

async function loadOrBuild(folder: string): Promise<Bundle> {
  const cached = await readBundle(folder);
  if (cached !== undefined) return cached;
  await removeUnused();
  // Each builder works in a folder of its own and renames it at the end, so that two at once cannot mix their files.
  const own = `${folder}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await mkdir(own, { recursive: true });
    await Promise.all([runWrangler(own), writeManifest(own)]);
    const bundle = await readBundle(own);
    if (bundle === undefined) throw new Error("wrangler wrote no module");
    await rename(own, folder).catch(() => undefined);
    return bundle;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function runWrangler(outdir: string): Promise<void> {
  const wrangler = join(projectRoot, "node_modules", "wrangler", "bin", "wrangler.js");
  await runNode([wrangler, "deploy", "--dry-run", "--outdir", outdir], outdir);
}

// Loading wrangler blocks a process for more than a second, hence in one of its own, and only where a bundle is built.
const printConfig = `
  import { unstable_readConfig } from "wrangler";
  const { main, compatibility_date: date, compatibility_flags: flags } = unstable_readConfig({ config: "wrangler.toml" });
  console.log(JSON.stringify({ main, date, flags }));
`;

async function writeManifest(folder: string): Promise<void> {
  const config = JSON.parse(await runNode(["--input-type=module", "--eval", printConfig], folder)) as Manifest;
  const main = basename(config.main).replace(/\.[cm]?[jt]sx?$/, ".js");
  await writeFile(join(folder, manifestName), JSON.stringify({ ...config, main }));
}

/** Runs Node in the project and returns what it prints. Ends with this process, which then removes `unfinished`. */
async function runNode(args: readonly string[], unfinished: string): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: projectRoot,
    env: { ...process.env, ...offlineEnvironment },
    stdio: ["ignore", "pipe", "pipe"],
    // wrangler.js starts a second process and does not pass signals on; a group of their own can be ended as one.
    detached: true,
  });
  const abandon = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
    rmSync(unfinished, { recursive: true, force: true });
  };
  process.once("exit", abandon);
  try {
    const closed = new Promise<number | null>((settle, fail) => {
      child.once("error", fail);
      child.once("close", settle);
    });
    const [code, printed, complaints] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
    if (code !== 0) throw new Error(`The Worker could not be bundled.\n${`${printed}${complaints}`.trim()}`);
    return printed;
  } finally {
    process.removeListener("exit", abandon);
  }
}

async function readBundle(folder: string): Promise<Bundle | undefined> {
  const manifest = await readFile(join(folder, manifestName), "utf8").catch(() => undefined);
  if (manifest === undefined) return undefined;
  const { main, date, flags } = JSON.parse(manifest) as Manifest;
  const paths = (await filesUnder(folder)).filter((path) => /\.m?js$/.test(path));
  const modules = await Promise.all(
    paths.map(async (path) => ({
      name: relative(folder, path).split(sep).join("/"),
      contents: await readFile(path, "utf8"),
    })),
  );
  if (!modules.some(({ name }) => name === main)) return undefined;
  modules.sort((a, b) => Number(b.name === main) - Number(a.name === main));
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
  return { modules, compatibilityDate: date, compatibilityFlags: flags };
}

async function removeUnused(): Promise<void> {
  for (const name of await readdir(cacheFolder).catch(() => [])) {
    const path = join(cacheFolder, name);
    const used = await stat(path).catch(() => undefined);
    if (used !== undefined && Date.now() - used.mtimeMs > unusedAfterMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
