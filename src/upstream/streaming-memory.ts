import type { StreamingFacts } from "./streaming-plan.ts";

/**
 * Remembers what upstreams refuse, so that only the first request pays. Per tenant: nobody can teach another's requests. Kept in the
 * isolate, bounded, and forgotten after a while: then the next request asks as if nothing were known.
 */
export interface StreamingMemory {
  recall(key: StreamingKey, now: number): StreamingFacts;
  learn(key: StreamingKey, facts: StreamingFacts, now: number): void;
}

export interface StreamingKey {
  readonly tenant: string;
  readonly upstream: string;
  readonly model: string;
  /** `combinationOf` the request. */
  readonly combination: string;
}

const NOTHING: StreamingFacts = {};

export function createStreamingMemory(maxEntries = 2000, keptMs = 10 * 60_000): StreamingMemory {
  // A Map iterates in the order of insertion, so its first key is the oldest.
  const entries = new Map<string, { readonly facts: StreamingFacts; readonly until: number }>();
  return {
    recall(key, now): StreamingFacts {
      if (entries.size === 0) return NOTHING;
      const name = nameOf(key);
      const entry = entries.get(name);
      if (entry === undefined) return NOTHING;
      if (entry.until > now) return entry.facts;
      entries.delete(name);
      return NOTHING;
    },
    learn(key, facts, now): void {
      const name = nameOf(key);
      const before = this.recall(key, now);
      entries.delete(name);
      if (entries.size >= maxEntries) entries.delete(entries.keys().next().value as string);
      entries.set(name, { facts: { ...before, ...facts }, until: now + keptMs });
    },
  };
}

const nameOf = ({ tenant, upstream, model, combination }: StreamingKey): string =>
  JSON.stringify([tenant, upstream, model, combination]);
