import { globSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../../../src/protocol/quirks/", import.meta.url);

test.each(globSync("*.ts", { cwd: folder }))("%s says why it is there, and has a test", async (name) => {
  const { why } = (await import(new URL(name, folder).href)) as { why?: unknown };
  expect(why).toMatch(/\w+ \w+/);
  expect(globSync(name.replace(".ts", ".test.ts"), { cwd: import.meta.dirname })).toHaveLength(1);
});
