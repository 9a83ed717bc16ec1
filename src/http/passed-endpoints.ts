import type { Endpoint } from "../upstream/provider.ts";

export interface PassedEndpoint {
  /** As clients name it. */
  readonly paths: readonly string[];
  readonly endpoint: Endpoint;
  /** The path beside the `/v1` of a base URL, where the endpoint lies there. */
  readonly beside?: string;
  readonly answer: "json" | "any";
  /** The model that is meant where a request may leave it out. */
  readonly defaultModel?: string;
}

/** How Azure's clients ask. */
export const AZURE = "/openai/deployments/:deployment";

/** Every endpoint that passes, and the only paths that are ever asked of an upstream beside those with a file of their own. */
export const PASSED: readonly PassedEndpoint[] = [
  { paths: ["/v1/rerank"], endpoint: "/rerank", answer: "json" },
  { paths: ["/v2/rerank"], endpoint: "/rerank", beside: "/v2/rerank", answer: "json" },
  { paths: ["/rerank"], endpoint: "/rerank", beside: "/rerank", answer: "json" },
  { paths: ["/v1/score"], endpoint: "/score", answer: "json" },
  { paths: ["/score"], endpoint: "/score", beside: "/score", answer: "json" },
  { paths: ["/tokenize"], endpoint: "/tokenize", beside: "/tokenize", answer: "json" },
  { paths: ["/detokenize"], endpoint: "/detokenize", beside: "/detokenize", answer: "json" },
  {
    paths: ["/v1/moderations", "/moderations"],
    endpoint: "/moderations",
    answer: "json",
    defaultModel: "omni-moderation-latest",
  },
  ...(["/images/generations", "/audio/speech"] as const).map((endpoint) => ({
    paths: ["/v1", "", AZURE].map((base) => base + endpoint),
    endpoint,
    answer: "any" as const,
  })),
];
