import { isObject } from "../protocol/json/lossless.ts";
import { headersFor } from "../upstream/request.ts";
import { serves, type Target } from "../upstream/target.ts";
import type { Ports } from "./ports.ts";

/** What an upstream says of one of its models. */
export interface ListedModel {
  readonly id: string;
  readonly maxModelLength: number | undefined;
}

/** The models of upstreams, as far as they are known by now. */
export interface ModelLists {
  /** Asks the upstream in the background, if what is known of it is old; what it says is there for a later request. */
  of(target: Target, ports: Ports): readonly ListedModel[];
  /** The same; who is the first to ask waits a little for the answer. */
  first(target: Target, ports: Ports): Promise<void>;
}

const FRESH_MS = 60_000;
const LIMIT_MS = 10_000;
const FIRST_MS = 2000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_MODELS = 2000;
const MAX_UPSTREAMS = 200;
const WHOLE = { stream: false, omitKey: false, options: false };

/** Made once per isolate. No request waits for another one's list: the runtime would cut it off with its owner. */
export function createModelLists(): ModelLists {
  const lists = new Map<string, { askedAt: number; models: readonly ListedModel[] }>();
  const keyOf = ({ upstream, baseUrl, credential }: Target): string => JSON.stringify([upstream, baseUrl, credential]);

  const renew = async (target: Target, ports: Ports): Promise<void> => {
    const key = keyOf(target);
    const known = lists.get(key);
    if (!serves(target, "/models") || (known !== undefined && ports.now() - known.askedAt < FRESH_MS)) return;
    const entry = { askedAt: ports.now(), models: known?.models ?? [] };
    if (known === undefined && lists.size >= MAX_UPSTREAMS) lists.delete(lists.keys().next().value as string);
    lists.set(key, entry);
    // What goes wrong here is told when the upstream is asked for an answer.
    entry.models = (await fetchModels(target, ports).catch(() => undefined)) ?? entry.models;
  };

  return {
    of(target, ports): readonly ListedModel[] {
      ports.waitUntil(renew(target, ports));
      return lists.get(keyOf(target))?.models ?? [];
    },
    async first(target, ports): Promise<void> {
      if (lists.has(keyOf(target))) return;
      const asked = renew(target, ports);
      ports.waitUntil(asked);
      await Promise.race([asked, new Promise((settle) => setTimeout(settle, FIRST_MS))]);
    },
  };
}

async function fetchModels(target: Target, ports: Ports): Promise<ListedModel[] | undefined> {
  const fetch = ports.fetcherOf(target.binding);
  const headers = headersFor(target, WHOLE, ports.newId("sluice-"), ports.secretOf);
  if (fetch === undefined || !headers.ok) return undefined;
  const { "content-type": _type, ...own } = headers.value;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const response = await fetch(target.urlOf("/models"), { headers: own, redirect: "manual", signal });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    return undefined;
  }
  const text = await readBounded(response.body);
  return text === undefined ? undefined : modelsIn(JSON.parse(text));
}

async function readBounded(body: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const utf8 = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const bytes of body) {
    length += bytes.length;
    if (length > MAX_BYTES) return undefined;
    text += utf8.decode(bytes, { stream: true });
  }
  return text;
}

function modelsIn(list: unknown): ListedModel[] | undefined {
  const data = isObject(list) ? list["data"] : list;
  if (!Array.isArray(data)) return undefined;
  return data.slice(0, MAX_MODELS).flatMap((card: unknown) => {
    if (!isObject(card) || typeof card["id"] !== "string" || card["id"] === "") return [];
    const length = card["max_model_len"];
    return [{ id: card["id"], maxModelLength: Number.isInteger(length) ? (length as number) : undefined }];
  });
}
