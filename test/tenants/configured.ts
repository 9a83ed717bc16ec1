import { createHash } from "node:crypto";
import { createConfig, type Config } from "../../src/tenants/config.ts";
import { parseDocument, type GatewayDocument } from "../../src/tenants/document.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
export const keyHash = (text: string): string => `sha256:${sha256(text)}`;

export const DOCUMENT = {
  upstreams: { gpu: { base_url: "http://10.0.0.5:8000/v1" } },
  routes: { llama: { targets: [{ upstream: "gpu", model: "meta-llama/Llama-3.3-70B-Instruct" }] } },
  tenants: { acme: { keys: [keyHash("sk-acme")] } },
};

export function documentOf(value: unknown): GatewayDocument {
  const parsed = parseDocument(value);
  if ("faults" in parsed) throw new Error(parsed.faults.join("\n"));
  return parsed.document;
}

export const configOf = (value: unknown): Config => createConfig(documentOf(value));
