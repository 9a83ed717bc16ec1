import { describe, expect, it } from "vitest";
import { parseDocument } from "../../src/tenants/document.ts";
import type { Target } from "../../src/upstream/target.ts";
import { configOf, keyHash } from "./configured.ts";

const documentWith = (upstream: object, target: object = {}, route: object = {}, tenant: object = {}): object => ({
  upstreams: { gpu: { base_url: "http://10.0.0.5:8000/v1", ...upstream } },
  routes: { llama: { targets: [{ upstream: "gpu", ...target }], ...route } },
  tenants: { acme: { keys: [keyHash("a")], ...tenant } },
});
const targetFrom = (upstream: object, target?: object): Target =>
  configOf(documentWith(upstream, target)).routes.find("llama")?.targets[0] as Target;
const faultsOf = (value: unknown): readonly string[] => {
  const parsed = parseDocument(value);
  return "faults" in parsed ? parsed.faults : [];
};

describe("what an upstream and a target can say", () => {
  it("what a target says comes first, then its upstream, then its provider", () => {
    const can = {
      n: false,
      json_schema: false,
      image_urls: false,
      content_parts: false,
      stream_options: false,
      max_tokens: "max_tokens",
    };
    expect(targetFrom({ capabilities: can }, { capabilities: { n: true } }).capabilities).toMatchObject({
      ...can,
      n: true,
      logprobs: true,
    });
    expect(targetFrom({ provider: "vllm" }).capabilities).toMatchObject({
      constraints: "structured_outputs",
      cache_salt: true,
    });
    expect(
      targetFrom({ provider: "vllm", capabilities: { constraints: "guided", cache_salt: false } }).capabilities,
    ).toMatchObject({ constraints: "guided", cache_salt: false });
  });
  it("ranges are told number by number", () => {
    const { ranges } = targetFrom(
      { provider: "anthropic", capabilities: { ranges: { temperature: { max: 2 } } } },
      { capabilities: { ranges: { min_p: { min: 0 } } } },
    ).capabilities;
    expect(ranges).toEqual({ temperature: { max: 2 }, top_p: { min: 0, max: 1 }, min_p: { min: 0 } });
  });
  it("text, template and unsupported", () => {
    expect(targetFrom({})).toMatchObject({
      text: { tools: "none", reasoning: "none" },
      template: "none",
      unsupported: "refuse",
      imageHosts: undefined,
    });
    expect(
      targetFrom(
        {
          text: { tools: "hermes", reasoning: "think" },
          template: "chatml",
          unsupported: "drop",
          image_hosts: ["a.example"],
        },
        { text: { tools: "auto" } },
      ),
    ).toMatchObject({
      text: { tools: "auto", reasoning: "think" },
      template: "chatml",
      unsupported: "drop",
      imageHosts: ["a.example"],
    });
    expect(targetFrom({ template: "{{ messages }}" }, { template: "none" }).template).toBe("none");
  });
  it("a base URL can be left out where there is one", () => {
    const document = {
      upstreams: { a: { provider: "groq" } },
      routes: { m: { targets: [{ upstream: "a" }] } },
      tenants: {},
    };
    expect(configOf(document).routes.find("m")?.targets[0]?.urlOf("/chat/completions")).toBe(
      "https://api.groq.com/openai/v1/chat/completions",
    );
    expect(faultsOf({ upstreams: { a: { provider: "vllm" } }, tenants: {} })).toEqual([
      "upstreams.a.base_url: must be string",
    ]);
    expect(faultsOf({ upstreams: { a: { provider: "workers-ai", binding: "AI" } }, tenants: {} })).toEqual([]);
  });
  it("a URL with the model in it", () => {
    const azure = { provider: "azure-openai", base_url: "https://acme.openai.azure.com" };
    expect(targetFrom(azure, { model: "gpt-4o" }).urlOf("/chat/completions", "x")).toBe(
      "https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
    );
    expect(targetFrom(azure).urlOf("/chat/completions", "x")).toBe(
      "https://acme.openai.azure.com/openai/deployments/x/chat/completions?api-version=2024-10-21",
    );
  });
});

describe("what a route and a tenant can say", () => {
  it("by default", () => {
    const config = configOf(documentWith({}));
    expect(config.routes.find("llama")?.reportModel).toBe("answered");
    expect(config.tenants.get("acme")).toMatchObject({ reasoningFields: "both", privileged: false });
  });
  it("said", () => {
    const config = configOf(
      documentWith({}, {}, { report_model: "requested" }, { reasoning_fields: "as_sent", privileged: true }),
    );
    expect(config.routes.find("llama")?.reportModel).toBe("requested");
    expect(config.tenants.get("acme")).toMatchObject({ reasoningFields: "as_sent", privileged: true });
  });
});

describe("a fault is told with its path", () => {
  it.each<[string, unknown, string]>([
    [
      "an unknown capability",
      documentWith({ capabilities: { telepathy: true } }),
      "upstreams.gpu.capabilities.telepathy: unknown name",
    ],
    [
      "a capability of another type",
      documentWith({}, { capabilities: { n: "no" } }),
      "routes.llama.targets[0].capabilities.n: must be boolean",
    ],
    [
      "a choice that is none",
      documentWith({ capabilities: { max_tokens: "tokens" } }),
      "upstreams.gpu.capabilities.max_tokens: must be one of any, max_tokens, max_completion_tokens",
    ],
    [
      "an unknown range",
      documentWith({ capabilities: { ranges: { heat: { max: 1 } } } }),
      "upstreams.gpu.capabilities.ranges.heat: unknown name",
    ],
    ["an unknown name of text", documentWith({ text: { tool: "auto" } }), "upstreams.gpu.text.tool: unknown name"],
    [
      "an unknown family",
      documentWith({ text: { tools: "hermes9" } }),
      "upstreams.gpu.text.tools: must be none, auto or the name of a family",
    ],
    [
      "an unknown family of thoughts",
      documentWith({}, { text: { reasoning: "x" } }),
      "routes.llama.targets[0].text.reasoning: must be none, auto or the name of a family",
    ],
    [
      "an unknown template",
      documentWith({ template: "lama3" }),
      "upstreams.gpu.template: must be none, llama3, chatml or Jinja text",
    ],
    [
      "a template that is too long",
      documentWith({ template: `{{ x }}${" ".repeat(262_144)}` }),
      "upstreams.gpu.template: must have at most 256 KiB",
    ],
    [
      "a name that no object can have",
      JSON.parse(
        '{"upstreams":{"gpu":{"base_url":"http://x/v1"}},"tenants":{"a":{"routes":{"__proto__":{"targets":[]}}}}}',
      ),
      "tenants.a.routes.__proto__: not a valid name",
    ],
    [
      "an unknown way with what is unsupported",
      documentWith({ unsupported: "ignore" }),
      "upstreams.gpu.unsupported: must be one of refuse, drop",
    ],
    [
      "an unknown way to report the model",
      documentWith({}, {}, { report_model: "x" }),
      "routes.llama.report_model: must be one of answered, requested",
    ],
    [
      "unknown reasoning fields",
      documentWith({}, {}, {}, { reasoning_fields: "none" }),
      "tenants.acme.reasoning_fields: must be one of both, as_sent, reasoning_content, reasoning",
    ],
    [
      "a privilege of another type",
      documentWith({}, {}, {}, { privileged: 1 }),
      "tenants.acme.privileged: must be boolean",
    ],
  ])("%s", (_name, value, fault) => expect(faultsOf(value)).toEqual([fault]));
});
