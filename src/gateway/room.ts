import { isObject, type JsonObject } from "../protocol/json/lossless.ts";
import { headersFor } from "../upstream/request.ts";
import type { Target } from "../upstream/target.ts";
import type { Ports } from "./ports.ts";

/** How long an answer may get where nobody has said it and the server cannot tell. */
export const DEFAULT_ROOM = 4096;

const LIMIT_MS = 5000;
const WHOLE = { stream: false, omitKey: false, options: false };

/** How many tokens the context of a model leaves behind a prompt: completions are short unless they are told. */
export async function roomFor(prompt: string, target: Target, model: string, ports: Ports): Promise<number> {
  // Where it is an endpoint of the server's own it counts as that server does; of others nobody knows what it is.
  if (!target.provider.rootEndpoints.includes("/tokenize")) return DEFAULT_ROOM;
  const counted = await tokenize(prompt, target, model, ports).catch(() => undefined);
  const { count, max_model_len } = counted ?? {};
  if (typeof count !== "number" || typeof max_model_len !== "number") return DEFAULT_ROOM;
  // A prompt that leaves nothing is for the server to refuse, in its own words.
  return Math.max(max_model_len - count, 1);
}

async function tokenize(prompt: string, target: Target, model: string, ports: Ports): Promise<JsonObject | undefined> {
  const fetch = ports.fetcherOf(target.binding);
  const headers = headersFor(target, WHOLE, ports.newId("sluice-"), ports.secretOf);
  if (fetch === undefined || !headers.ok) return undefined;
  const response = await fetch(target.urlOf("/tokenize", model), {
    method: "POST",
    headers: headers.value,
    body: JSON.stringify({ model, prompt, add_special_tokens: false }),
    redirect: "manual",
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    return undefined;
  }
  // It names every token, so that it is of the size of the prompt, which is bounded.
  const body = (await response.json()) as unknown;
  return isObject(body) ? body : undefined;
}
