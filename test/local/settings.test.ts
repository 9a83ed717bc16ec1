import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadSettings, readFlags, type Settings } from "./settings.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-settings-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("flags", () => {
  test("have defaults", () => {
    expect(readFlags([])).toMatchObject({ port: 8787, help: false });
    expect(readFlags(["--port", "0", "--upstream", "http://localhost:8000/v1"])).toMatchObject({ port: 0 });
  });

  test.each([
    [["--prot", "1"], "Unknown option '--prot'"],
    [["8787"], "Unexpected argument '8787'"],
    [["--port", "http"], "--port http: "],
    [["--port", "65536"], "--port 65536: "],
    [["--port"], "--port"],
    [["--upstream", "localhost:8000"], "--upstream localhost:8000: "],
    [["--upstream", "http://a", "--config", "b"], "--config and --upstream"],
    [["--credential", "KEY"], "--credential needs --upstream"],
  ])("%j is an error", (args, message) => {
    expect(() => readFlags(args)).toThrow(message);
  });
});

describe("a document", () => {
  const load = async (text: string, environment: NodeJS.Dict<string> = {}): Promise<Settings> => {
    const path = join(folder, "gateway.json");
    await writeFile(path, text);
    return loadSettings(readFlags(["--config", path]), { environment, folder });
  };
  const document = {
    upstreams: {
      gpu: { credential: "GPU_KEY", binding: "VPC_GPU", headers: { "x-access": { secret: "ACCESS" } } },
      other: { base_url: "http://localhost:8000/v1", credential: "GPU_KEY" },
    },
    tenants: {},
  };

  test("gets exactly the secrets that it names, from the environment first", async () => {
    await writeFile(join(folder, ".dev.vars"), "GPU_KEY=from-file\nACCESS='a b'\nUNUSED=x\n");
    const settings = await load(JSON.stringify(document), { GPU_KEY: "from-environment", OTHER: "y" });
    expect(settings.secrets).toEqual({ GPU_KEY: "from-environment", ACCESS: "a b" });
    expect(settings.bindings).toEqual(["VPC_GPU"]);
    expect(settings.document).toEqual(document);
    await rm(join(folder, ".dev.vars"));
  });

  test("names the path of every secret that is missing", async () => {
    const loading = load(JSON.stringify(document), { GPU_KEY: "" });
    await expect(loading).rejects.toThrow("upstreams.gpu.credential: the secret GPU_KEY");
    await expect(loading).rejects.toThrow("upstreams.gpu.headers.x-access: the secret ACCESS");
    await expect(loading).rejects.toThrow("upstreams.other.credential: ");
    const proto = { upstreams: { a: { base_url: "http://a", credential: "__proto__" } }, tenants: {} };
    await expect(load(JSON.stringify(proto))).rejects.toThrow("upstreams.a.credential: ");
  });

  test("that is wrong is told by its paths, before any secret is looked for", async () => {
    const wrong = { ...document, upstreams: { gpu: { base_url: 5, credential: "GPU_KEY" } }, more: 1 };
    await expect(load(JSON.stringify(wrong))).rejects.toThrow(
      /upstreams\.gpu\.base_url: must be string\nmore: unknown name/,
    );
  });

  test("that is none is an error", async () => {
    await expect(load("{")).rejects.toThrow("gateway.json: this is no JSON document");
    await expect(load("[]")).rejects.toThrow("must be a JSON object");
    await expect(loadSettings(readFlags(["--config", join(folder, "none.json")]))).rejects.toThrow("ENOENT");
  });
});

test("--upstream passes every model to it, with the key that --credential names", async () => {
  const flags = readFlags(["--upstream", "http://localhost:8000/v1", "--credential", "KEY"]);
  const settings = await loadSettings(flags, { environment: { KEY: "k" }, folder });
  expect(settings.secrets).toEqual({ KEY: "k" });
  expect(settings.document).toMatchObject({
    upstreams: { upstream: { base_url: "http://localhost:8000/v1", credential: "KEY" } },
    routes: { "*": { targets: [{ upstream: "upstream" }] } },
    tenants: { local: { models: ["*"] } },
  });
});
