import { createConfig } from "../../src/tenants/config.ts";
import type { Target } from "../../src/upstream/target.ts";

const config = createConfig({
  upstreams: { gpu: { base_url: "http://gpu.example:8000/v1" } },
  routes: { m: { targets: [{ upstream: "gpu" }] } },
  tenants: {},
});

/** A target of an upstream that says nothing of itself. */
export function targetOf(more: Partial<Target> = {}): Target {
  const target = config.routes.find("m")?.targets[0];
  if (target === undefined) throw new Error("there is no target");
  return { ...target, ...more };
}
