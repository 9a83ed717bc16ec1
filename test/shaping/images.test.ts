import { describe, expect, it } from "vitest";
import { inlineImages } from "../../src/gateway/images.ts";
import type { Fetch } from "../../src/gateway/ports.ts";
import type { JsonObject } from "../../src/protocol/json/lossless.ts";
import type { Shaped } from "../../src/upstream/shaping/draft.ts";
import { targetOf } from "../upstream/target-of.ts";

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3);
const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0);
const PNG = `data:image/png;base64,${Buffer.from(png).toString("base64")}`;

const shapedOf = (text: string): Shaped => ({
  text,
  body: JSON.parse(text) as JsonObject,
  changed: ["-stop"],
  legacyFunctions: false,
  copies: 1,
});
const asking = (...urls: string[]): string =>
  JSON.stringify({
    model: "m",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "x" },
          ...urls.map((url) => ({ type: "image_url", image_url: { url, detail: "low" } })),
        ],
      },
    ],
  });

type Pages = Readonly<Record<string, () => Response | Promise<Response>>>;
const image = (bytes: Uint8Array, type = "image/png"): Response =>
  new Response(bytes.slice(), { headers: { "content-type": type } });
const redirect = (location: string): Response => new Response(null, { status: 302, headers: { location } });

async function inlined(
  text: string,
  pages: Pages = {},
  imageHosts?: readonly string[],
): Promise<{
  readonly urls?: unknown[];
  readonly text?: string;
  readonly changed?: readonly string[];
  readonly param?: string | null;
  readonly message?: string;
  readonly asked: string[];
}> {
  const asked: string[] = [];
  const fetch: Fetch = async (url, init) => {
    asked.push(url);
    expect(init.redirect).toBe("manual");
    expect(Object.keys(init.headers as object).sort()).toEqual(["accept", "user-agent"]);
    const page = pages[url];
    if (page === undefined) throw new Error(`nothing at ${url}`);
    return page();
  };
  const result = await inlineImages(shapedOf(text), targetOf({ imageHosts }), fetch);
  if (!result.ok) {
    const { code, param, message } = result.error.error;
    expect([result.error.status, code]).toEqual([400, "invalid_image_url"]);
    return { param, message, asked };
  }
  const messages = result.value.body["messages"] as { content: { image_url?: { url: string } }[] }[];
  expect(JSON.parse(result.value.text)).toEqual(result.value.body);
  return {
    urls: messages[0]?.content.flatMap((part) => part.image_url?.url ?? []) ?? [],
    text: result.value.text,
    changed: result.value.changed,
    asked,
  };
}

describe("images by URL", () => {
  it("are put in, with what was said beside the URL", async () => {
    const { text, urls, changed } = await inlined(asking("https://a.example.com/x.png", "data:image/gif;base64,AA"), {
      "https://a.example.com/x.png": () => image(png),
    });
    expect(urls).toEqual([PNG, "data:image/gif;base64,AA"]);
    expect(text).toContain('"detail":"low"');
    expect(changed).toEqual(["-stop", "image_url->data"]);
  });
  it("the type is that of the bytes, not of the header", async () => {
    const { urls } = await inlined(asking("https://a.example.com/x"), {
      "https://a.example.com/x": () => image(jpeg, "text/html"),
    });
    expect(urls).toEqual([`data:image/jpeg;base64,${Buffer.from(jpeg).toString("base64")}`]);
  });
  it("one that stands twice is fetched once", async () => {
    const url = "https://a.example.com/x.png";
    expect((await inlined(asking(url, url), { [url]: () => image(png) })).asked).toEqual([url]);
  });
  it("a large one comes whole", async () => {
    const bytes = new Uint8Array(1_000_003).map((_, i) => png[i] ?? i % 251);
    const { urls } = await inlined(asking("https://a.example.com/x"), {
      "https://a.example.com/x": () => image(bytes),
    });
    expect(
      Buffer.from(String(urls?.[0]).slice("data:image/png;base64,".length), "base64").equals(Buffer.from(bytes)),
    ).toBe(true);
  });
  it("a URL as a text is one too", async () => {
    const text =
      '{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://a.example.com/x"}]}],"seed":9007199254740993}';
    const { text: sent } = await inlined(text, { "https://a.example.com/x": () => image(png) });
    expect(sent).toBe(text.replace("https://a.example.com/x", PNG));
  });
  it("without any nothing is written anew", async () => {
    const text =
      ' {"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}]}';
    expect((await inlined(text)).text).toBe(text);
  });
});

describe("what is refused, by its place", () => {
  const at = (part: number): string => `messages[0].content[${part}].image_url.url`;
  const url = "https://a.example.com/x";
  it.each<[string, Pages]>([
    ["not there", { [url]: () => new Response("no", { status: 404 }) }],
    ["not reachable", {}],
    ["no image", { [url]: () => new Response("<html>", { headers: { "content-type": "image/png" } }) }],
    ["empty", { [url]: () => new Response("") }],
    [
      "too large by its length",
      { [url]: () => new Response(new ReadableStream(), { headers: { "content-length": "99999999" } }) },
    ],
    [
      "too large as it comes",
      {
        [url]: () =>
          new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)) })),
      },
    ],
    ["a redirect to nowhere", { [url]: () => new Response(null, { status: 302 }) }],
    ["redirects without end", { [url]: () => redirect(url) }],
    ["a redirect to a private address", { [url]: () => redirect("http://169.254.169.254/latest") }],
    ["a redirect to loopback in another spelling", { [url]: () => redirect("http://0x7f.1/") }],
    ["a redirect to another scheme", { [url]: () => redirect("file:///etc/passwd") }],
  ])("%s", async (_what, pages) => {
    const { param, asked } = await inlined(asking("data:image/png;base64,AA", url), pages);
    expect(param).toBe(at(2));
    expect(asked.every((one) => one === url)).toBe(true);
  });
  it("another scheme is not passed on", async () => {
    for (const other of ["file:///etc/passwd", " FTP://a.example.com/x.png", "gopher://a"])
      expect(await inlined(asking(other))).toMatchObject({ param: at(1), asked: [] });
  });
  it("a private address is not asked", async () => {
    const { param, asked, message } = await inlined(asking("http://127.0.0.1:8000/x"));
    expect([param, asked]).toEqual([at(1), []]);
    expect(message).not.toContain("127");
  });
  it("a relative redirect is followed, and a few in a row", async () => {
    const pages = {
      [url]: () => redirect("/y"),
      "https://a.example.com/y": () => redirect("https://b.example.com/z"),
      "https://b.example.com/z": () => image(png),
    };
    expect((await inlined(asking(url), pages)).urls).toEqual([PNG]);
  });
  it("more images than can be", async () => {
    expect((await inlined(asking(...Array.from({ length: 17 }, (_, i) => `https://a.example.com/${i}`)))).param).toBe(
      at(17),
    );
  });
  it("a host that the operator has not named", async () => {
    expect((await inlined(asking(url), { [url]: () => image(png) }, ["b.example.com"])).param).toBe(at(1));
    expect(
      (await inlined(asking("http://10.0.0.5/x"), { "http://10.0.0.5/x": () => image(png) }, ["10.0.0.5"])).urls,
    ).toEqual([PNG]);
  });
});
