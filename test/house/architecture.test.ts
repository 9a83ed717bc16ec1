import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

// The house of README: who may import whom. A file imports from its own floor's folder or from a floor below.
const FLOORS = ["protocol", "template|upstream", "routing", "tenants", "gateway", "http|state", "app"];
const MOST_LINES = 350;

const root = new URL("../..", import.meta.url).pathname;
const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".d.ts"));
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const imports: Import[] = files.flatMap((from) =>
  [
    ...(sources.get(from) ?? "").matchAll(/^(?:import|export)\s(type\s)?[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/gm),
  ].map((match) => ({
    from,
    to: match[2] ?? match[3] ?? "",
    typeOnly: match[1] !== undefined,
  })),
);
const inside = imports
  .filter(({ to }) => to.startsWith("."))
  .map(({ from, to, typeOnly }) => ({ from, to: normalize(join(dirname(from), to)), typeOnly }));

const roomOf = (file: string): string => file.split("/")[1]?.replace(/^(?:app|worker)\.ts$/, "app") ?? "";
const floorOf = (file: string): number => FLOORS.findIndex((floor) => floor.split("|").includes(roomOf(file)));

describe("the house", () => {
  it("has every file on a floor", () => {
    expect(files.filter((file) => floorOf(file) < 0)).toEqual([]);
  });

  it("imports from below, never from above, and http and state never meet", () => {
    const wrong = inside.filter(
      ({ from, to }) => floorOf(to) > floorOf(from) || (floorOf(to) === floorOf(from) && roomOf(to) !== roomOf(from)),
    );
    expect(wrong).toEqual([]);
  });

  it("has a protocol that knows nothing but itself", () => {
    const foreign = imports.filter(
      ({ from, to, typeOnly }) => roomOf(from) === "protocol" && !to.startsWith(".") && !typeOnly,
    );
    expect(foreign).toEqual([]);
  });

  it("keeps the template engine in the module that is loaded apart", () => {
    const wrong = imports.filter(
      ({ from, to, typeOnly }) =>
        (to === "@huggingface/jinja" && roomOf(from) !== "template") ||
        (to.includes("/template/") && roomOf(from) !== "template" && !typeOnly && from !== "src/app.ts"),
    );
    expect(wrong).toEqual([]);
  });

  it("keeps Hono in http and app", () => {
    const rooms = imports.filter(({ to }) => to === "hono" || to.startsWith("hono/")).map(({ from }) => roomOf(from));
    expect(new Set(rooms)).toEqual(new Set(["http", "app"]));
  });

  it("has no cycles", () => {
    const edges = Map.groupBy(
      inside.filter(({ typeOnly }) => !typeOnly),
      ({ from }) => from,
    );
    const open = new Set<string>();
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string): void => {
      if (done.has(file)) return;
      if (open.has(file)) {
        cycles.push([...open, file].join(" -> "));
        return;
      }
      open.add(file);
      for (const { to } of edges.get(file) ?? []) visit(to);
      open.delete(file);
      done.add(file);
    };
    files.forEach(visit);
    expect(cycles).toEqual([]);
  });

  it("has one default export, and no file that only passes others on", () => {
    expect(files.filter((file) => /^export default/m.test(sources.get(file) ?? ""))).toEqual(["src/worker.ts"]);
    expect(files.filter((file) => /^export (?:type )?(?:\*|\{[^}]*\}) from/m.test(sources.get(file) ?? ""))).toEqual(
      [],
    );
  });

  it("names no provider in shared code", () => {
    const ids = globSync("src/upstream/providers/*.ts", { cwd: root }).map(
      (file) => file.split("/").at(-1)?.replace(".ts", "") ?? "",
    );
    expect(ids.length).toBeGreaterThan(0);
    const shared = files.filter(
      (file) => !file.includes("/providers/") && !file.endsWith("catalog.ts") && !file.endsWith("tenants/config.ts"),
    );
    const named = shared.filter((file) => ids.some((id) => (sources.get(file) ?? "").includes(`=== "${id}"`)));
    expect(named).toEqual([]);
  });

  it("has no file that has grown two jobs", () => {
    const long = files.filter((file) => (sources.get(file) ?? "").split("\n").length > MOST_LINES);
    expect(long).toEqual([]);
  });
});
