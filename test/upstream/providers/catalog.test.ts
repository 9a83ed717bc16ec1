import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROVIDERS } from "../../../src/upstream/catalog.ts";
import { CHOICES, ENDPOINTS, RANGED, SWITCHES, type Provider } from "../../../src/upstream/provider.ts";
import { endpointUrl } from "../../../src/upstream/request.ts";
import { CHAT_RULES } from "../../../src/upstream/shaping/shape.ts";

const root = new URL("../../..", import.meta.url).pathname;
const all: [string, Provider][] = Object.entries(PROVIDERS);

const TESTED = [
  "openai-compatible",
  "vllm",
  "sglang",
  "llama-cpp",
  "ollama",
  "tgi",
  "openai",
  "azure-openai",
  "openrouter",
  "together",
  "anthropic",
  "gemini",
];

describe.each(all)("%s", (id, provider) => {
  it("has a file of its own, in which it is named", () => {
    const source = readFileSync(`${root}/src/upstream/providers/${id}.ts`, "utf8");
    expect(provider.id).toBe(id);
    expect(source).toContain(`id: "${id}"`);
    expect(source.split("\n").length).toBeLessThan(75);
  });
  it("has every member", () => {
    expect(Object.keys(provider).sort()).toEqual(
      [
        "auth",
        "basePath",
        "baseUrl",
        "capabilities",
        "endpoints",
        "id",
        "name",
        "privileged",
        "query",
        "quirks",
        "rootEndpoints",
        "tested",
      ].sort(),
    );
    expect(provider.name).not.toBe("");
    expect(provider.tested).toBe(TESTED.includes(id));
  });
  it("has every capability, each with a value that it can have", () => {
    const { capabilities } = provider;
    expect(Object.keys(capabilities).sort()).toEqual(
      [...SWITCHES, ...Object.keys(CHOICES), "embedding_inputs", "ranges"].sort(),
    );
    for (const name of SWITCHES) expect(typeof capabilities[name]).toBe("boolean");
    for (const name of Object.keys(CHOICES) as (keyof typeof CHOICES)[])
      expect(CHOICES[name]).toContain(capabilities[name]);
    expect(capabilities.embedding_inputs).toBeGreaterThan(0);
    for (const [name, { min, above, max }] of Object.entries(capabilities.ranges)) {
      expect(RANGED).toContain(name);
      expect(min ?? above ?? max).toBeDefined();
      expect(max ?? Infinity).toBeGreaterThan(min ?? above ?? -Infinity);
    }
  });
  it("serves chat, and nothing that has no name", () => {
    expect(provider.endpoints).toContain("/chat/completions");
    for (const endpoint of provider.endpoints) expect(ENDPOINTS).toContain(endpoint);
    for (const endpoint of provider.rootEndpoints) expect(provider.endpoints).toContain(endpoint);
  });
  it("has a base URL that leads where its bare host does", () => {
    if (provider.baseUrl === undefined) return;
    const { origin, protocol } = new URL(provider.baseUrl);
    expect(protocol).toBe("https:");
    expect(endpointUrl(origin, "/chat/completions", provider)).toBe(
      endpointUrl(provider.baseUrl, "/chat/completions", provider),
    );
  });
});

it("every file of a provider is in the catalog", () => {
  const files = globSync("src/upstream/providers/*.ts", { cwd: root }).map((file) =>
    file.split("/").at(-1)?.replace(".ts", ""),
  );
  expect(files.sort()).toEqual(all.map(([id]) => id).sort());
});

it("every rule of shaping has a name of its own, that of its file", () => {
  const names = CHAT_RULES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names)
    expect(readFileSync(`${root}/src/upstream/shaping/${name}.ts`, "utf8")).toContain(`name: "${name}"`);
});

describe("URLs", () => {
  it.each<[keyof typeof PROVIDERS, string, string, string]>([
    [
      "azure-openai",
      "https://acme.openai.azure.com",
      "/chat/completions",
      "https://acme.openai.azure.com/openai/deployments/gpt%204o/chat/completions?api-version=2024-10-21",
    ],
    [
      "azure-openai",
      "https://acme.openai.azure.com?api-version=2025-01-01",
      "/embeddings",
      "https://acme.openai.azure.com/openai/deployments/gpt%204o/embeddings?api-version=2025-01-01",
    ],
    [
      "azure-openai",
      "https://acme.openai.azure.com/openai/v1?api-version=preview",
      "/chat/completions",
      "https://acme.openai.azure.com/openai/v1/chat/completions?api-version=preview",
    ],
    [
      "azure-openai",
      "https://acme.openai.azure.com/openai/v1",
      "/chat/completions",
      "https://acme.openai.azure.com/openai/v1/chat/completions",
    ],
    ["vllm", "http://gpu:8000", "/chat/completions", "http://gpu:8000/v1/chat/completions"],
    ["vllm", "http://gpu:8000/v1", "/tokenize", "http://gpu:8000/tokenize"],
    ["vllm", "http://gpu:8000/prefix/v1", "/tokenize", "http://gpu:8000/prefix/tokenize"],
    ["groq", "https://api.groq.com", "/chat/completions", "https://api.groq.com/openai/v1/chat/completions"],
    ["perplexity", "https://api.perplexity.ai", "/chat/completions", "https://api.perplexity.ai/chat/completions"],
    [
      "databricks",
      "https://acme.cloud.databricks.com",
      "/chat/completions",
      "https://acme.cloud.databricks.com/serving-endpoints/chat/completions",
    ],
    [
      "bedrock",
      "https://bedrock-runtime.us-west-2.amazonaws.com",
      "/chat/completions",
      "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1/chat/completions",
    ],
    [
      "gemini",
      "https://generativelanguage.googleapis.com",
      "/embeddings",
      "https://generativelanguage.googleapis.com/v1beta/openai/embeddings",
    ],
    [
      "cloudflare-ai-gateway",
      "https://gateway.ai.cloudflare.com/v1/account/gateway/compat",
      "/chat/completions",
      "https://gateway.ai.cloudflare.com/v1/account/gateway/compat/chat/completions",
    ],
    [
      "workers-ai",
      "https://api.cloudflare.com/client/v4/accounts/account/ai/v1",
      "/embeddings",
      "https://api.cloudflare.com/client/v4/accounts/account/ai/v1/embeddings",
    ],
  ])("%s %s %s", (id, base, endpoint, url) => expect(endpointUrl(base, endpoint, PROVIDERS[id], "gpt 4o")).toBe(url));
});
