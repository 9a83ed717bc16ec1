import { describe, expect, it } from "vitest";
import type { Tenant } from "../../src/tenants/config.ts";
import { modelNames, routeOf } from "../../src/tenants/models.ts";
import { configOf, DOCUMENT } from "./configured.ts";

const to = (model: string): object => ({ targets: [{ upstream: "gpu", model }] });
const config = configOf({
  ...DOCUMENT,
  routes: {
    llama: to("shared-llama"),
    "llama-*": to("shared-star"),
    qwen: to("shared-qwen"),
    "org/model": to("shared-org"),
  },
  tenants: {
    all: {},
    some: { models: ["llama", "llama-3*", "gone"] },
    own: { models: ["*"], routes: { llama: to("own-llama"), "qw*": to("own-qw"), mine: to("own-mine") } },
    closed: { models: [], routes: { mine: to("own-mine") } },
    narrow: { models: ["mine"], routes: { mine: to("own-mine"), hidden: to("own-hidden") } },
  },
});
const tenant = (id: string): Tenant => config.tenants.get(id) as Tenant;

describe("routeOf", () => {
  it.each<[string, string, string | undefined]>([
    ["all", "llama", "shared-llama"],
    ["all", "llama-7", "shared-star"],
    ["all", "org/model", "shared-org"],
    ["all", "mine", undefined],
    ["some", "llama", "shared-llama"],
    ["some", "llama-3-8b", "shared-star"],
    ["some", "llama-2", undefined],
    ["some", "qwen", undefined],
    ["some", "gone", undefined],
    ["own", "llama", "own-llama"],
    ["own", "llama-7", "shared-star"],
    ["own", "qwen", "own-qw"],
    ["own", "mine", "own-mine"],
    ["closed", "mine", undefined],
    ["closed", "llama", undefined],
    ["narrow", "mine", "own-mine"],
    ["narrow", "hidden", undefined],
    ["narrow", "llama", undefined],
    ["all", "toString", undefined],
  ])("%s asks for %s: %s", (id, model, expected) =>
    expect(routeOf(config, tenant(id), model)?.targets[0]?.model).toBe(expected),
  );
});

describe("modelNames", () => {
  it.each<[string, readonly string[]]>([
    ["all", ["llama", "org/model", "qwen"]],
    ["some", ["llama"]],
    ["own", ["llama", "mine", "org/model", "qwen"]],
    ["closed", []],
    ["narrow", ["mine"]],
  ])("of %s", (id, names) => expect(modelNames(config, tenant(id))).toEqual(names));

  it("lists a name of the tenant's own list that a * serves", () => {
    const listed = configOf({
      ...DOCUMENT,
      routes: { "case-*": { targets: [{ upstream: "gpu" }] } },
      tenants: { a: { models: ["case-1", "case-*"] } },
    });
    expect(modelNames(listed, listed.tenants.get("a") as Tenant)).toEqual(["case-1"]);
  });
});
