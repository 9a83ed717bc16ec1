// Each tested provider, by what it says in its own dialect, read by the clients that people use: everywhere the same answer.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/upstream/catalog.ts";
import { send } from "../conformance/client.ts";
import { readCompletion, readErrorBody, readStream } from "../conformance/strict.ts";
import { hashed, KEY } from "../gateway/rig.ts";
import { startGateway, type Gateway } from "../local/gateway.ts";
import { anthropic } from "./anthropic.ts";
import { azureOpenai } from "./azure-openai.ts";
import { ANSWER_TOKENS, bytesOf, logprobAt, MODEL, PROMPT_TOKENS, REFUSAL, textOf, type Dialect } from "./dialect.ts";
import { gemini } from "./gemini.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import { isStreamed, READERS, type Asking, type Read } from "./readers.ts";
import { membersOf, SAYINGS, SCENES, type SceneName } from "./scenes.ts";
import { sglang } from "./sglang.ts";
import { tgi } from "./tgi.ts";
import { together } from "./together.ts";
import { startUpstream, type Upstream } from "./upstream.ts";
import { vllm } from "./vllm.ts";

const DIALECTS: readonly Dialect[] = [
  vllm,
  sglang,
  llamaCpp,
  ollama,
  tgi,
  openai,
  azureOpenai,
  openrouter,
  together,
  anthropic,
  gemini,
];
const CREDENTIAL = "sk-upstream-credential-1";

const upstreams = new Map<Dialect, Upstream>();
let gateway: Gateway;

/** Under its own name, as any server, and with its model's name hidden. */
type As = "itself" | "openai-compatible" | "hidden";
const modelOf = (dialect: Dialect, as: As): string => `${as}/${dialect.provider}`;

beforeAll(async () => {
  const configured: Record<string, object> = {};
  const routes: Record<string, object> = {};
  for (const dialect of DIALECTS) {
    const { provider } = dialect;
    const upstream = await startUpstream(dialect, PROVIDERS[provider].capabilities.n);
    upstreams.set(dialect, upstream);
    configured[provider] = { provider, base_url: upstream.origin, credential: "UPSTREAM_KEY" };
    configured[`${provider} as any`] = { base_url: `${upstream.origin}/v1`, credential: "UPSTREAM_KEY" };
    const to = (upstream: string): object => ({ targets: [{ upstream, model: MODEL }] });
    routes[modelOf(dialect, "itself")] = to(provider);
    routes[modelOf(dialect, "openai-compatible")] = to(`${provider} as any`);
    routes[modelOf(dialect, "hidden")] = { ...to(provider), report_model: "requested" };
  }
  gateway = await startGateway({
    config: { upstreams: configured, routes, tenants: { acme: { keys: [hashed(KEY)] } } },
    secrets: { UPSTREAM_KEY: CREDENTIAL },
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([...upstreams.values()].map((upstream) => upstream.stop()));
});

const upstreamOf = (dialect: Dialect): Upstream => upstreams.get(dialect) as Upstream;
const capabilitiesOf = ({ provider }: Dialect): (typeof PROVIDERS)[typeof provider]["capabilities"] =>
  PROVIDERS[provider].capabilities;

/** The member because of which the gateway refuses the request, by the provider's data. */
function refusedMember(dialect: Dialect, scene: SceneName): string | undefined {
  const can = capabilitiesOf(dialect);
  if (scene === "json_schema" && !can.json_schema) return "response_format";
  return scene === "logprobs" && !can.logprobs ? "logprobs" : undefined;
}

function expectSameAnswer(read: Read, dialect: Dialect, scene: SceneName): void {
  const sayings = SAYINGS[scene];
  const choices = read.choices.toSorted((a, b) => (a.text < b.text ? -1 : 1));
  expect(choices.map(({ text }) => text)).toEqual(sayings.map(textOf));
  for (const [i, { calls: wanted, reasoning = "", text: pieces = [] }] of sayings.entries()) {
    const choice = choices[i];
    expect(choice?.finish).toBe(wanted ? "tool_calls" : "stop");
    expect(choice?.calls).toEqual(
      (wanted ?? []).map(({ name, args }) => ({ name, args: JSON.parse(args) as unknown })),
    );
    if (choice?.reasoning !== undefined) expect(choice.reasoning).toBe(dialect.thinks ? reasoning : "");
    if (scene === "logprobs" && choice !== undefined && "logprobs" in choice) {
      expect(choice.logprobs).toMatchObject(
        pieces.map((token, at) => ({
          token,
          logprob: logprobAt(at),
          bytes: bytesOf(token),
          top_logprobs: expect.any(Array) as unknown[],
        })),
      );
    }
  }
  // Of several choices each server counts what it likes.
  if (scene !== "n=2") expect(read.usage).toEqual([PROMPT_TOKENS, ANSWER_TOKENS]);
  else expect(read.usage?.[0]).toBe(PROMPT_TOKENS);
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    (value: unknown) => new Error(`there was an answer: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  const { message, status, statusCode, param, code, cause } = error as Record<string, unknown>;
  return JSON.stringify({ message, status: status ?? statusCode, param, code, cause, said: String(error) });
}

/** What goes over the wire, by the strictest rules. */
async function rawAnswer(asking: Asking, scene: SceneName, stream: boolean): Promise<{ status: number; text: string }> {
  const body = {
    model: asking.model,
    messages: [{ role: "user", content: scene }],
    ...membersOf(scene),
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  };
  const received = await send(new URL(`${asking.baseURL}/chat/completions`), {
    method: "POST",
    headers: { authorization: `Bearer ${asking.apiKey}`, "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(body)),
    timeout: 20_000,
  });
  const { status, headers } = received;
  const read = status !== 200 ? readErrorBody : stream ? readStream : readCompletion;
  expect(read(received.body, { includeUsage: true }).problems).toEqual([]);
  return { status, text: `${JSON.stringify(headers)}\n${received.body.toString()}` };
}

describe.each(DIALECTS.map((dialect) => [dialect.provider, dialect] as const))("%s", (_name, dialect) => {
  describe.each<As>(["itself", "openai-compatible"])("configured as %s", (as) => {
    const asking = (): Asking => ({ baseURL: `${gateway.url}/v1`, apiKey: KEY, model: modelOf(dialect, as) });
    // As any server it is sent what it cannot do.
    const scenes = SCENES.filter(
      (scene) =>
        as === "itself" ||
        (refusedMember(dialect, scene) === undefined && (scene !== "n=2" || capabilitiesOf(dialect).n)),
    );

    test.each(scenes)("%s", async (scene) => {
      const upstream = upstreamOf(dialect);
      upstream.seen.length = 0;
      const refused = as === "itself" ? refusedMember(dialect, scene) : undefined;

      for (const stream of [true, false]) {
        const { status } = await rawAnswer(asking(), scene, stream);
        expect(status).toBe(refused !== undefined ? 400 : scene === "error" ? dialect.refusal.status : 200);
      }

      for (const [name, reader] of Object.entries(READERS)) {
        const work = reader(asking(), scene);
        if (work === undefined || (scene === "failure" && !isStreamed(name))) continue;
        if (refused !== undefined) expect(await failureOf(work), name).toMatch(new RegExp(`400.*\`?${refused}`));
        else if (scene === "error") expect(await failureOf(work), name).toContain(REFUSAL);
        else if (scene === "failure")
          expect(await failureOf(work), name).toContain(dialect.failureWords ?? "ended the stream before");
        else {
          try {
            expectSameAnswer(await work, dialect, scene);
          } catch (error) {
            throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
          }
        }
      }
      if (refused !== undefined) expect(upstream.seen).toEqual([]);
      if (as === "itself") {
        for (const { path, headers, body } of upstream.seen) {
          expect(path).toBe(dialect.path.replace("{model}", MODEL));
          expect(headers[dialect.keyHeader]).toMatch(new RegExp(`^(Bearer )?${CREDENTIAL}$`));
          if (!capabilitiesOf(dialect).n) expect(body.n ?? 1).toBe(1);
        }
      }
    });
  });

  test.each<SceneName>(["text", "tools", "error", "failure"])(
    "names its model nowhere, if it is not to: %s",
    async (scene) => {
      const asking = { baseURL: `${gateway.url}/v1`, apiKey: KEY, model: modelOf(dialect, "hidden") };
      for (const stream of [true, false]) {
        const { text } = await rawAnswer(asking, scene, stream);
        expect(text).not.toContain(MODEL);
        if (scene !== "failure") expect(text).toContain(asking.model);
      }
    },
  );
});
