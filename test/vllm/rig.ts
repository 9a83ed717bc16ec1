export interface ServerUrls {
  readonly parsersUrl: string;
  readonly plainUrl: string;
  /** The pooling model: embeddings, score, rerank. */
  readonly poolingUrl: string;
}

/** What `run.ts` started, handed to the suite through the environment. */
export interface Rig extends ServerUrls {
  /** Absent when the suite speaks to the servers themselves (`--direct`). */
  readonly gatewayUrl?: string;
  readonly plainPid: number;
}

export const rigVariable = "SLUICE_VLLM_RIG";

export function rigFromEnvironment(): Rig {
  const text = process.env[rigVariable];
  if (text === undefined) throw new Error("this suite is started by `npm run test:vllm`");
  return JSON.parse(text) as Rig;
}

/** Sum of a gauge or counter of vLLM's `/metrics` over its label sets that hold `label`. */
export async function metric(serverUrl: string, name: string, label = ""): Promise<number> {
  // vLLM closes a connection that was idle for five seconds, which a busy machine finds out too late.
  const text = await (await fetch(`${serverUrl}/metrics`, { headers: { connection: "close" } })).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith(`vllm:${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
