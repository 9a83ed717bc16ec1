import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { TestSpecification } from "vitest/node";
import { ClosingLine } from "./closing-line.ts";

/** One server at a time is killed for good, so that file comes last. */
class KillLast {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
  sort(files: TestSpecification[]): TestSpecification[] {
    const place = ({ moduleId }: TestSpecification): string => (moduleId.endsWith("/killed.ts") ? "1" : "0") + moduleId;
    return files.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  }
}

export default defineConfig({
  cacheDir: fileURLToPath(new URL("../../node_modules/.vite", import.meta.url)),
  test: {
    root: fileURLToPath(new URL(".", import.meta.url)),
    include: ["suite/*.ts"],
    // The suite reads the servers' gauges: two files at once would see each other's requests.
    fileParallelism: false,
    sequence: { sequencer: KillLast },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["verbose", new ClosingLine()],
  },
});
