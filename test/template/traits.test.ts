import { describe, expect, it } from "vitest";
import { createConfig } from "../../src/tenants/config.ts";
import type { Target } from "../../src/upstream/target.ts";

function targetOf(upstream: object, target: object = {}): Target {
  const config = createConfig({
    upstreams: { u: { base_url: "http://gpu.example/v1", ...upstream } },
    routes: { m: { targets: [{ upstream: "u", ...target }] } },
    tenants: {},
  });
  return config.routes.find("m")?.targets[0] as Target;
}

describe("a target with a template", () => {
  it("reads calls in the family that the template asks for them in, if nobody says otherwise", () => {
    expect(targetOf({ template: "llama3" }).text.tools).toBe("llama3");
    expect(targetOf({}, { template: "chatml" }).text.tools).toBe("hermes");
    expect(targetOf({ template: "{{ messages }}" }).text.tools).toBe("auto");
    expect(targetOf({ template: "chatml", text: { tools: "none" } }).text.tools).toBe("none");
    expect(targetOf({ template: "chatml" }, { text: { tools: "pythonic" } }).text.tools).toBe("pythonic");
  });

  it("asks no server for anything but text", () => {
    const { capabilities } = targetOf({ template: "chatml" });
    expect(capabilities).toMatchObject({ tools: false, functions: false, audio: false, instruction_role: "system" });
    expect(targetOf({ template: "{{ 'developer' }}" }).capabilities.instruction_role).toBe("any");
    expect(targetOf({}).capabilities.tools).toBe(true);
  });
});
