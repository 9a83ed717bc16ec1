import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { parseDocument } from "../../src/tenants/document.ts";
import { isRecord } from "./sample-arguments.ts";
import { localModels } from "./upstream-models.ts";
import { startUpstream } from "./upstream.ts";

export const localKey = "sk-local";

/** A fault of the person who started the script; its message is all that is printed. */
export class SettingsError extends Error {}

export interface Flags {
  readonly port: number;
  readonly config: string | undefined;
  readonly upstream: string | undefined;
  readonly credential: string | undefined;
  readonly help: boolean;
}

export interface Settings {
  readonly document: unknown;
  readonly secrets: Readonly<Record<string, string>>;
  /** Names of the bindings that the document wants its upstreams to be reached by. */
  readonly bindings: readonly string[];
}

/** Where secrets are looked up. */
export interface Place {
  readonly environment: NodeJS.Dict<string>;
  readonly folder: string;
}

export function usage(command: string): string {
  return `Usage: ${command} -- [options]

  --port N            listen on this port of 127.0.0.1 (default 8787; 0 takes a free one)
  --upstream URL      put a real OpenAI-compatible server behind the gateway, for example http://localhost:8000/v1
  --credential NAME   with --upstream: the secret that holds the server's key
  --config FILE       take the configuration document from a JSON file
  --help              print this

Without --upstream or --config a local upstream answers (models local/*).
Secrets that the document names are taken from the environment, then from .dev.vars in the working directory.`;
}

export function readFlags(args: readonly string[]): Flags {
  const string = { type: "string" } as const;
  let values;
  try {
    values = parseArgs({
      args: [...args],
      options: {
        port: string,
        config: string,
        upstream: string,
        credential: string,
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message.split(". ")[0]}. Options come behind a \`--\`; see --help.`);
  }
  const { port = "8787", config, upstream, credential, help = false } = values;
  if (!/^\d+$/.test(port) || Number(port) > 65535) throw new SettingsError(`--port ${port}: this is no port number.`);
  if (config !== undefined && upstream !== undefined) {
    throw new SettingsError("--config and --upstream exclude each other: a document names its own upstreams.");
  }
  if (credential !== undefined && upstream === undefined) throw new SettingsError("--credential needs --upstream.");
  if (upstream !== undefined && !/^https?:$/.test(URL.parse(upstream)?.protocol ?? "")) {
    throw new SettingsError(`--upstream ${upstream}: this is no http(s) URL.`);
  }
  return { port: Number(port), config, upstream, credential, help };
}

/** The document that the flags ask for; starts the local upstream if nothing else is to stand behind the gateway. */
export async function loadSettings(
  flags: Flags,
  place: Place = { environment: process.env, folder: "." },
): Promise<Settings> {
  const document = flags.config === undefined ? await ownDocument(flags) : await readDocument(flags.config);
  const checked = parseDocument(document);
  if ("faults" in checked) throw new SettingsError(checked.faults.join("\n"));
  const wanted = namesIn(document);
  return { document, secrets: await findSecrets(wanted.secrets, place), bindings: wanted.bindings };
}

async function ownDocument(flags: Flags): Promise<unknown> {
  const keys = [`sha256:${createHash("sha256").update(localKey).digest("hex")}`];
  if (flags.upstream !== undefined) {
    const credential = flags.credential === undefined ? {} : { credential: flags.credential };
    return {
      upstreams: { upstream: { base_url: flags.upstream, ...credential } },
      routes: { "*": { targets: [{ upstream: "upstream" }] } },
      tenants: { local: { keys, models: ["*"] } },
    };
  }
  const { baseUrl } = await startUpstream();
  return {
    // Short, so that `local/slow` shows keep-alive comments and `local/stall` its timeout while somebody is looking.
    upstreams: { local: { base_url: baseUrl, keep_alive_ms: 1000, idle_ms: 15_000 } },
    routes: { "local/*": { targets: [{ upstream: "local" }] } },
    tenants: { local: { keys, models: [...localModels.map(({ id }) => id), "local/*"] } },
  };
}

async function readDocument(path: string): Promise<unknown> {
  let text;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new SettingsError(`--config ${path}: it cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    const document: unknown = JSON.parse(text);
    if (isRecord(document)) return document;
  } catch (error) {
    throw new SettingsError(`--config ${path}: this is no JSON document. ${(error as Error).message}`);
  }
  throw new SettingsError(`--config ${path}: the document must be a JSON object.`);
}

interface Wanted {
  readonly secrets: { readonly path: string; readonly name: string }[];
  readonly bindings: string[];
}

/** Every secret (`credential`, `{"secret": ...}`) and every `binding` that a document names. */
function namesIn(document: unknown, path = "", wanted: Wanted = { secrets: [], bindings: [] }): Wanted {
  if (typeof document !== "object" || document === null) return wanted;
  for (const [key, value] of Object.entries(document)) {
    const here = path === "" ? key : `${path}.${key}`;
    const onlySecret = key === "secret" && Object.keys(document).length === 1;
    if (typeof value !== "string") namesIn(value, here, wanted);
    else if (onlySecret) wanted.secrets.push({ path, name: value });
    else if (key === "credential") wanted.secrets.push({ path: here, name: value });
    else if (key === "binding") wanted.bindings.push(value);
  }
  return wanted;
}

async function findSecrets(wanted: Wanted["secrets"], place: Place): Promise<Record<string, string>> {
  const file = parseEnv(await readFile(join(place.folder, ".dev.vars"), "utf8").catch(() => ""));
  const valueOf = (from: NodeJS.Dict<string>, name: string): string | undefined =>
    Object.hasOwn(from, name) && from[name] !== "" ? from[name] : undefined;
  const secrets: Record<string, string> = {};
  const missing: string[] = [];
  for (const { path, name } of wanted) {
    const value = valueOf(place.environment, name) ?? valueOf(file, name);
    if (value === undefined)
      missing.push(`${path}: the secret ${name} is neither in the environment nor in .dev.vars.`);
    else secrets[name] = value;
  }
  if (missing.length > 0) throw new SettingsError(missing.join("\n"));
  return secrets;
}
