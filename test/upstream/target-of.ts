import { BEARER } from "../../src/upstream/provider.ts";
import type { Target } from "../../src/upstream/target.ts";

export const targetOf = (more: Partial<Target> = {}): Target => ({
  upstream: "gpu",
  provider: { id: "openai-compatible", auth: BEARER, capabilities: { streaming: true, streaming_with_tools: true } },
  baseUrl: "http://gpu.example:8000/v1",
  model: undefined,
  credential: undefined,
  headers: {},
  binding: undefined,
  preferStream: false,
  deadlines: { first_event_ms: 1, idle_ms: 1, total_ms: 1, keep_alive_ms: 1 },
  capabilities: { streaming: true, streaming_with_tools: true },
  ...more,
});
