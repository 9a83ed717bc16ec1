import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "./bundle.ts";

interface Ran {
  readonly code: number;
  readonly output: string;
}

async function deploy(vars: string): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-deploy-"));
  const toml = await readFile(join(projectRoot, "wrangler.toml"), "utf8");
  const config = join(folder, "wrangler.toml");
  await writeFile(config, `${toml.replace("src/worker.ts", join(projectRoot, "src/worker.ts"))}\n${vars}\n`);
  const args = [join(projectRoot, "test/local/deploy.ts"), "--config", config, "--dry-run"];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: projectRoot, timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}

const tenant = (keys: number): string =>
  `[vars.GATEWAY.tenants.acme]\nkeys = [${Array.from({ length: keys }, (_, i) => `"sha256:${i.toString(16).padStart(64, "0")}"`).join(", ")}]`;

describe("npm run deploy -- --dry-run", () => {
  it("builds offline", async () => {
    const ran = await deploy(`[vars.GATEWAY.upstreams.gpu]\nbase_url = "http://10.0.0.5:8000/v1"\n${tenant(1)}`);
    expect(ran).toMatchObject({ code: 0, output: expect.stringContaining("--dry-run: exiting now.") });
  });

  it("refuses a document that a variable cannot hold, and says where it can go", async () => {
    const ran = await deploy(`[vars.GATEWAY.upstreams.gpu]\nbase_url = "http://10.0.0.5:8000/v1"\n${tenant(100)}`);
    expect(ran).toMatchObject({
      code: 1,
      output: expect.stringMatching(/a variable holds 5120.*wrangler kv key put gateway/),
    });
  });

  it("refuses a document that the Worker would refuse, naming the path", async () => {
    const ran = await deploy(`[vars.GATEWAY.upstreams.gpu]\nbase_url = "10.0.0.5"\n${tenant(1)}`);
    expect(ran).toMatchObject({
      code: 1,
      output: expect.stringContaining("upstreams.gpu.base_url: must be an http or https URL"),
    });
  });
});
