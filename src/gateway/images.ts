import { concat } from "../protocol/bytes.ts";
import { gatewayError, type GatewayError } from "../protocol/errors.ts";
import { isObject, parseLossless, type JsonObject } from "../protocol/json/lossless.ts";
import { membersOf } from "../protocol/json/members.ts";
import { err, ok, type Result } from "../protocol/result.ts";
import type { Shaped } from "../upstream/shaping/draft.ts";
import type { Target } from "../upstream/target.ts";
import { mayFetch } from "./image-hosts.ts";
import { imageTypeOf, toDataUrl } from "./image-type.ts";
import type { Fetch } from "./ports.ts";

const MOST_IMAGES = 16;
const MOST_BYTES = 10 * 1024 * 1024;
/** Of all images together: base64 makes them a third larger, and the isolate has 128 MB for everybody. */
const MOST_BYTES_IN_ALL = 20 * 1024 * 1024;
const MOST_REDIRECTS = 3;
const TIME_LIMIT_MS = 15_000;

interface Place {
  readonly message: number;
  readonly part: number;
  readonly url: string;
}

/**
 * Puts images that a request names by URL into it as `data:` URLs, for servers that refuse to fetch. The URLs are a client's, and the
 * gateway may stand where the client does not: see `mayFetch`.
 */
export async function inlineImages(
  shaped: Shaped,
  target: Target,
  fetch: Fetch,
): Promise<Result<Shaped, GatewayError>> {
  const places = placesOf(shaped.body["messages"]);
  if (places.length === 0) return ok(shaped);
  if (places.length > MOST_IMAGES) {
    return err(refused(places[MOST_IMAGES] as Place, `there are more than ${MOST_IMAGES} images named by URL`));
  }
  const stop = AbortSignal.timeout(TIME_LIMIT_MS);
  const images = new Map<string, Promise<Result<Uint8Array, string>>>();
  for (const { url } of places) if (!images.has(url)) images.set(url, load(url, target.imageHosts, fetch, stop));
  const urls = new Map<Place, string>();
  let bytes = 0;
  for (const place of places) {
    const image = await (images.get(place.url) as Promise<Result<Uint8Array, string>>);
    if (!image.ok) return err(refused(place, image.error));
    bytes += image.value.length;
    if (bytes > MOST_BYTES_IN_ALL) return err(refused(place, "the images are too large together"));
    const type = imageTypeOf(image.value);
    if (type === undefined) return err(refused(place, "it does not lead to a PNG, JPEG, GIF or WebP image"));
    urls.set(place, toDataUrl(type, image.value));
  }
  return ok(withUrls(shaped, urls));
}

const refused = ({ message, part }: Place, why: string): GatewayError =>
  gatewayError(
    "invalid_image_url",
    `The image could not be fetched for a model that takes no URLs: ${why}.`,
    `messages[${message}].content[${part}].image_url.url`,
  );

function placesOf(messages: unknown): Place[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap(({ content }: JsonObject, message) =>
    !Array.isArray(content)
      ? []
      : content.flatMap((value: unknown, part) => {
          const url = urlOf(value);
          return url !== undefined && /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(url) ? [{ message, part, url }] : [];
        }),
  );
}

function urlOf(part: unknown): string | undefined {
  if (!isObject(part) || part["type"] !== "image_url") return undefined;
  const image = part["image_url"];
  const url = isObject(image) ? image["url"] : image;
  return typeof url === "string" ? url : undefined;
}

function withUrls(shaped: Shaped, urls: ReadonlyMap<Place, string>): Shaped {
  const messages = (parseLossless(shaped.text) as { messages: { content: unknown }[] }).messages;
  for (const [{ message, part }, url] of urls) {
    const parts = (messages[message] as { content: unknown[] }).content;
    const old = parts[part] as JsonObject;
    const image = old["image_url"];
    parts[part] = { ...old, image_url: isObject(image) ? { ...image, url } : url };
  }
  const members = membersOf(shaped.text);
  members.set("messages", JSON.stringify(messages));
  return {
    ...shaped,
    text: members.toText(),
    body: { ...shaped.body, messages },
    changed: [...shaped.changed, "image_url->data"],
  };
}

/** One image, or in words why not. Redirects are followed by hand: each leads to a URL that nobody has looked at. */
async function load(
  url: string,
  hosts: readonly string[] | undefined,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<Result<Uint8Array, string>> {
  let next = url.trim();
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    if (!mayFetch(next, hosts)) return err("its URL is not one that the gateway fetches");
    try {
      const headers = { accept: "image/*", "user-agent": "sluice" };
      const response = await fetch(next, { method: "GET", headers, redirect: "manual", signal });
      if (response.status >= 300 && response.status < 400) {
        void response.body?.cancel();
        const location = response.headers.get("location");
        if (location === null || !URL.canParse(location, next)) return err("its URL leads nowhere");
        next = new URL(location, next).href;
        continue;
      }
      if (!response.ok || response.body === null) {
        void response.body?.cancel();
        return err("its URL does not answer with an image");
      }
      return await read(response);
    } catch {
      return err(signal.aborted ? "it did not come in time" : "its URL could not be reached");
    }
  }
  return err("its URL leads from one redirect to the next");
}

async function read(response: Response): Promise<Result<Uint8Array, string>> {
  const tooLarge = err(`it is larger than ${MOST_BYTES} bytes`);
  if (Number(response.headers.get("content-length") ?? 0) > MOST_BYTES) {
    void response.body?.cancel();
    return tooLarge;
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    length += piece.length;
    if (length > MOST_BYTES) return tooLarge;
    pieces.push(piece);
  }
  return ok(concat(pieces));
}
