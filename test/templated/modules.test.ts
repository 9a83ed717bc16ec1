import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleWorker } from "../local/bundle.ts";

test("what renders chats is a module of its own, and nothing of it is in the main one", async () => {
  const { modules } = await bundleWorker();
  expect(modules.map(({ name }) => name)).toEqual(["worker.js", "template/renderer.js"]);
  const [main, renderer] = modules.map(({ contents }) => contents) as [string, string];
  expect(main).toContain('import("./template/renderer.js")');
  for (const own of ["raise_exception", "strftime_now", "Cutting Knowledge Date"]) {
    expect([main.includes(own), renderer.includes(own)]).toEqual([false, true]);
  }
  expect(gzipSync(renderer, { level: 9 }).length).toBeLessThan(24 * 1024);
});
