import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

// The `[build]` of wrangler.toml: bundles each part that is loaded only when it is needed into one module of its own.
const root = resolve(import.meta.dirname, "../..");
const MODULES = ["src/template/renderer", "src/protocol/text/pass"];

for (const name of MODULES) {
  const { outputFiles } = await build({
    entryPoints: [join(root, `${name}.ts`)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    legalComments: "none",
    logLevel: "error",
  });
  await replace(join(root, `${name}.js`), outputFiles[0]?.text ?? "");
}

/** A file that is written anew makes `npm run dev` build anew; and another builder must not read the half of one. */
async function replace(file, text) {
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return;
  const folder = join(root, ".wrangler");
  const temporary = join(folder, `module.${process.pid}.${randomBytes(4).toString("hex")}.js`);
  await mkdir(folder, { recursive: true });
  await writeFile(temporary, text);
  await rename(temporary, file);
}
