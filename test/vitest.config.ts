import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const root = new URL("..", import.meta.url).pathname;

/** Three rings: pure tests, tests inside workerd, and tests from end to end with real sockets and clients. */
export default defineConfig({
  root,
  test: {
    // What the Worker logs is of interest where something has failed.
    silent: "passed-only",
    projects: [
      {
        root,
        test: {
          name: "pure",
          testTimeout: 60_000,
          include: [
            "test/protocol/**/*.test.ts",
            "test/upstream/**/*.test.ts",
            "test/tenants/**/*.test.ts",
            "test/template/**/*.test.ts",
            "test/house/**/*.test.ts",
          ],
        },
      },
      {
        root,
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: { name: "workerd", include: ["test/worker/**/*.test.ts"] },
      },
      {
        root,
        test: {
          name: "end-to-end",
          include: [
            "test/local/**/*.test.ts",
            "test/conformance/**/*.test.ts",
            "test/gateway/**/*.test.ts",
            "test/endpoints/**/*.test.ts",
            "test/shaping/**/*.test.ts",
            "test/dialects/**/*.test.ts",
            "test/templated/**/*.test.ts",
          ],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
