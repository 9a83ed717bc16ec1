import type { Fetch, Ports } from "../gateway/ports.ts";
import { fetchOfAi, isAiBinding } from "./ai-binding.ts";
import { newId } from "./ids.ts";
import { log } from "./log.ts";

/** The world as a Worker sees it. */
export function createPorts(bindings: Record<string, unknown>, waitUntil: (promise: Promise<unknown>) => void): Ports {
  return {
    now: Date.now,
    newId,
    secretOf(name): string | undefined {
      const value = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
      return typeof value === "string" && value !== "" ? value : undefined;
    },
    fetcherOf(binding): Fetch | undefined {
      if (binding === undefined) return (url, init) => fetch(url, init);
      const service = Object.hasOwn(bindings, binding) ? bindings[binding] : undefined;
      if (isAiBinding(service)) return fetchOfAi(service);
      return isFetcher(service) ? async (url, init) => service.fetch(url, init) : undefined;
    },
    waitUntil,
    log,
  };
}

function isFetcher(value: unknown): value is { fetch: Fetch } {
  return typeof value === "object" && value !== null && "fetch" in value && typeof value.fetch === "function";
}
