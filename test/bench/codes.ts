// The Workers that are compared, all under the compatibility date and flags of the production bundle.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { bundleWorker } from "../local/bundle.ts";
import type { WorkerCode } from "./workerd.ts";
import { gatewayDocument } from "./workload.ts";

export type CodeName = "empty" | "loop" | "sluice";

export interface Codes extends Readonly<Record<CodeName, WorkerCode>> {
  /** Of the main module, and of those that are loaded when they are needed. */
  readonly gzipKib: Readonly<Record<string, number>>;
}

export async function loadCodes(upstream: string): Promise<Codes> {
  const { modules, compatibilityDate, compatibilityFlags } = await bundleWorker();
  const plain = (name: CodeName): WorkerCode => ({
    name,
    modules: [{ name: "main.js", contents: readFileSync(new URL(`workers/${name}.js`, import.meta.url), "utf8") }],
    compatibilityDate,
    compatibilityFlags,
    bindings: { UPSTREAM: upstream },
  });
  return {
    empty: plain("empty"),
    loop: plain("loop"),
    sluice: {
      name: "sluice",
      modules,
      compatibilityDate,
      compatibilityFlags,
      bindings: { GATEWAY: gatewayDocument(upstream) },
    },
    gzipKib: Object.fromEntries(
      modules.map(({ name, contents }, at) => [
        at === 0 ? "bundle_gzip_kib" : `${name.replace(/^.*\/|\.js$/g, "")}_gzip_kib`,
        gzipSync(contents).length / 1024,
      ]),
    ),
  };
}
