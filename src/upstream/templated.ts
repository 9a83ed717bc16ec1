import type { Capabilities } from "./provider.ts";

/** What it means for an upstream that its chats are rendered here. */
export interface TemplateTraits {
  /** The family in which the template asks for tool calls, unless the operator names another one. */
  readonly tools: string;
  readonly capabilities: Partial<Capabilities>;
}

const NONE: TemplateTraits = { tools: "none", capabilities: {} };

const TOOL_FAMILIES: ReadonlyMap<string, string> = new Map([
  ["llama3", "llama3"],
  ["chatml", "hermes"],
]);

/** Behind a template there is no server that could read anything but text. */
export function traitsOf(template: string): TemplateTraits {
  if (template === "none") return NONE;
  return {
    tools: TOOL_FAMILIES.get(template) ?? "auto",
    capabilities: {
      // Calls are rendered and read as text, or not at all.
      tools: false,
      functions: false,
      empty_arguments: false,
      invalid_arguments: false,
      instruction_role: template.includes("developer") ? "any" : "system",
      max_tokens: "max_tokens",
      audio: false,
      // Refused when the chat is rendered, without being fetched before.
      image_urls: true,
    },
  };
}
