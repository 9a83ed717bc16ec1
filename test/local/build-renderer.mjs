import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

// The `[build]` of wrangler.toml: bundles the part that renders chat templates into the one module that is loaded when it is needed.
const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "src", "template");
const target = join(folder, "renderer.js");

const { outputFiles } = await build({
  entryPoints: [join(folder, "renderer.ts")],
  bundle: true,
  minify: true,
  write: false,
  format: "esm",
  target: "es2024",
  legalComments: "none",
  logLevel: "error",
});
const text = outputFiles[0]?.text ?? "";
// A file that is written anew makes `npm run dev` build anew; and another builder must not read the half of one.
if ((await readFile(target, "utf8").catch(() => undefined)) !== text) {
  const temporary = join(root, ".wrangler", `renderer.${process.pid}.${randomBytes(4).toString("hex")}.js`);
  await mkdir(join(root, ".wrangler"), { recursive: true });
  await writeFile(temporary, text);
  await rename(temporary, target);
}
