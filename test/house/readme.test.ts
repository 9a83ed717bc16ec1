import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERRORS } from "../../src/protocol/errors.ts";
import { localModels } from "../local/upstream-models.ts";
import { upstreamsTable } from "./upstreams-table.ts";

const root = new URL("../..", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const { scripts, dependencies, devDependencies } = JSON.parse(
  readFileSync(new URL("package.json", root), "utf8"),
) as Record<string, Record<string, string>>;

/** What stands between two marks. */
const section = (name: string): string =>
  readme.slice(readme.indexOf(`<!-- ${name} -->`) + name.length + 9, readme.indexOf(`<!-- /${name} -->`)).trim();

describe("README", () => {
  it("has the table of upstreams that the provider data makes", () => {
    expect(section("upstreams")).toBe(upstreamsTable().trim());
  });

  it.each(Object.keys(ERRORS).filter((code) => code !== "client_closed_request"))("explains the error %s", (code) => {
    expect(readme).toContain(`\`${code}\``);
  });

  it.each(localModels.map(({ id }) => id.replace("local/", "")))("names the local model %s", (name) => {
    expect(readme).toContain(`\`${name}\``);
  });

  it("names only scripts that there are", () => {
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? "");
    expect(named.filter((name) => scripts?.[name] === undefined)).toEqual([]);
  });

  it("says why each dependency is there", () => {
    const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith("@types/"));
    expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });
});
