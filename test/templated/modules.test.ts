import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleWorker } from "../local/bundle.ts";

test("what renders chats is a module of its own, and nothing of it is in the main one", async () => {
  const { modules } = await bundleWorker();
  const contentsOf = (wanted: string): string => modules.find(({ name }) => name === wanted)?.contents ?? "";
  const main = contentsOf("worker.js");
  const renderer = contentsOf("template/renderer.js");
  expect(main).toContain('import("./template/renderer.js")');
  for (const own of ["raise_exception", "strftime_now", "Cutting Knowledge Date"]) {
    expect([main.includes(own), renderer.includes(own)]).toEqual([false, true]);
  }
  expect(gzipSync(renderer, { level: 9 }).length).toBeLessThan(24 * 1024);
});
