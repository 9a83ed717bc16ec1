import { isRecord } from "./sample-arguments.ts";
import { localKey, type Flags, type Settings } from "./settings.ts";
import { localModels } from "./upstream-models.ts";

/** What is printed once the gateway answers: the address, and something to paste. */
export async function greeting(url: string, flags: Flags, settings: Settings): Promise<string> {
  const base = `${url}/v1`;
  const key = flags.config === undefined ? localKey : "YOUR-KEY";
  const model = await exampleModel(flags, settings);
  const content = "Hello there, how are you?";
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content }] });
  const message = `{ role: "user", content: "${content}" }`;
  const behind = flags.config ?? flags.upstream ?? "the local upstream";
  const lines = [`Sluice is ready at ${base} (key ${key}), behind it ${behind}.`, ""];
  if (flags.config === undefined && flags.upstream === undefined) {
    lines.push(...localModels.map(({ id, description }) => `  ${id.padEnd(18)}${description}`), "");
  }
  if (settings.bindings.length > 0)
    lines.push(`Not here, and asked over the network instead: the binding ${settings.bindings.join(", ")}.`, "");
  lines.push(
    `curl -N ${base}/chat/completions -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
    "",
    `import OpenAI from "openai";`,
    `const client = new OpenAI({ baseURL: "${base}", apiKey: "${key}" });`,
    `const stream = await client.chat.completions.create({ model: "${model}", stream: true, messages: [${message}] });`,
    `for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
    "",
  );
  return lines.join("\n");
}

async function exampleModel(flags: Flags, { document, secrets }: Settings): Promise<string> {
  if (flags.upstream !== undefined)
    return (await firstModel(flags.upstream, secrets[flags.credential ?? ""])) ?? "MODEL";
  const routes = isRecord(document) && isRecord(document["routes"]) ? Object.keys(document["routes"]) : [];
  return flags.config === undefined ? "local/echo" : (routes.find((name) => !name.endsWith("*")) ?? "MODEL");
}

async function firstModel(upstream: string, key: string | undefined): Promise<string | undefined> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const base = upstream.replace(/\/+$/, "");
  for (const url of [`${base}/models`, `${base}/v1/models`]) {
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(3000), redirect: "manual" });
      const { data } = (await response.json()) as { data: { id: unknown }[] };
      if (typeof data[0]?.id === "string") return data[0].id;
    } catch {
      // Only an example is at stake; the gateway tells what is wrong with the upstream when it is asked.
    }
  }
  return undefined;
}
