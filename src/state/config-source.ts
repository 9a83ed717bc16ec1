import { createConfig, type Config } from "../tenants/config.ts";
import { parseDocument } from "../tenants/document.ts";

/** Where a configuration document may come from. */
export interface ConfigBindings {
  /** A KV namespace; its key `gateway` holds the document. */
  readonly CONFIG?: { get(key: string, options: { type: "text"; cacheTtl: number }): Promise<string | null> };
  /** The document as a variable: a table of `wrangler.toml`, or JSON text. */
  readonly GATEWAY?: unknown;
}

/** Reads the document once per isolate, and the one in KV again in the background. */
export interface ConfigSource {
  /** Undefined: there is no valid document. The reason is in the log. */
  current(
    bindings: ConfigBindings,
    now: number,
    background: (work: Promise<void>) => void,
  ): Config | undefined | Promise<Config | undefined>;
}

const FRESH_MS = 20_000;
const KV_CACHE_SECONDS = 30;

export function createConfigSource(log: (event: string, details: Record<string, string>) => void): ConfigSource {
  let config: Config | undefined;
  let readAt: number | undefined;
  let lastText: string | undefined;

  const accept = (value: unknown, from: string): void => {
    const checked = parseDocument(value);
    if ("document" in checked) config = createConfig(checked.document);
    else
      for (const fault of checked.faults)
        log("config_invalid", { from, fault, kept: config === undefined ? "none" : "previous" });
  };
  const acceptText = (text: string, from: string): void => {
    try {
      accept(JSON.parse(text) as unknown, from);
    } catch {
      log("config_invalid", {
        from,
        fault: "the document is not JSON",
        kept: config === undefined ? "none" : "previous",
      });
    }
  };

  const read = async (bindings: ConfigBindings): Promise<void> => {
    const stored = await stock(bindings);
    if (stored !== null && stored !== lastText) {
      lastText = stored;
      acceptText(stored, "CONFIG");
    }
    if (stored === null && config === undefined) fromVariable(bindings);
  };
  const stock = async ({ CONFIG }: ConfigBindings): Promise<string | null> => {
    if (CONFIG === undefined) return null;
    try {
      return await CONFIG.get("gateway", { type: "text", cacheTtl: KV_CACHE_SECONDS });
    } catch {
      log("config_unreadable", { from: "CONFIG" });
      return lastText ?? null;
    }
  };
  const fromVariable = ({ GATEWAY }: ConfigBindings): void => {
    if (GATEWAY === undefined) log("config_missing", { fault: "neither CONFIG nor GATEWAY holds a document" });
    else if (typeof GATEWAY === "string") acceptText(GATEWAY, "GATEWAY");
    else accept(GATEWAY, "GATEWAY");
  };

  return {
    current(bindings, now, background): Config | undefined | Promise<Config | undefined> {
      if (bindings.CONFIG === undefined) {
        if (readAt === undefined) fromVariable(bindings);
        readAt = now;
        return config;
      }
      if (config !== undefined && readAt !== undefined && now - readAt < FRESH_MS) return config;
      const known = config;
      readAt = now;
      // Never shared between requests: a joiner would hang if the client of the first one left.
      const reading = read(bindings);
      background(reading);
      return known ?? reading.then(() => config);
    },
  };
}
