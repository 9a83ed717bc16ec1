import { describe, expect, it } from "vitest";
import { boundaryOf, createModelPart } from "../../../src/protocol/multipart/model-part.ts";
import { bytewise, twoWaySplits } from "../sse/cut.ts";

const part = (headers: string, content: string): string => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, content);
const file = part(
  'Content-Disposition: form-data; name="file"; filename="model.wav"\r\nContent-Type: audio/wav',
  "RIFF\xff\r\n--y\r\n--xy\r\n\r\n--x-\r\n--\r\nz--x\0",
);
const END = "--x--\r\n";
const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1");

function read(text: string, cut: (bytes: Uint8Array) => Iterable<Uint8Array> = (bytes) => [bytes]): unknown {
  const found = createModelPart("x");
  for (const bytes of cut(bytesOf(text))) found.feed(bytes);
  const { value } = found;
  return value === undefined ? found.state : [found.state, text.slice(value.start, value.end)];
}

describe("the part `model`", () => {
  it.each<[string, string, unknown]>([
    ["first", field("model", "whisper") + file + END, ["found", "whisper"]],
    ["last", file + field("model", "whisper") + END, ["found", "whisper"]],
    [
      "between others, behind a preamble",
      `hello\r\n${field("language", "de")}${field("model", "w 1")}${file}${END}`,
      ["found", "w 1"],
    ],
    [
      "with more headers, and a name without quotes",
      `${part("content-type: text/plain\r\ncontent-disposition: form-data; name=model", "w")}${END}`,
      ["found", "w"],
    ],
    [
      "padding behind the delimiter",
      `--x \t\r\nContent-Disposition: form-data; name="model"\r\n\r\nw\r\n--x-- `,
      ["found", "w"],
    ],
    ["an empty value", field("model", "") + END, ["found", ""]],
    ["none", field("language", "de") + file + END, "ended"],
    ["none yet", field("language", "de"), "looking"],
    ["what stands behind the end", field("language", "de") + END + field("model", "w") + END, "ended"],
    [
      "a file of that name is not it",
      part('Content-Disposition: form-data; name="file"; filename="model"', "w") + END,
      "ended",
    ],
    ["a part without headers", `--x\r\n\r\ncontent\r\n${field("model", "w")}${END}`, ["found", "w"]],
    ["no multipart at all", "this is no multipart body", "looking"],
    ["twice", field("model", "a") + file + field("model", "b") + END, ["twice", "a"]],
    ["too long", field("model", "w".repeat(2000)) + END, "malformed"],
    ["headers without an end", `--x\r\n${"a".repeat(20_000)}`, "malformed"],
    [
      "a name that others read as another one",
      part("Content-Disposition: form-data; name*=utf-8''model", "w") + END,
      "malformed",
    ],
    ["two names", part('Content-Disposition: form-data; name="a"; name="model"', "w") + END, "malformed"],
    ["a folded header", part('Content-Disposition: form-data;\r\n name="model"', "w") + END, "malformed"],
    [
      "two dispositions",
      part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"', "w") + END,
      "malformed",
    ],
    [
      "a bare line feed in a header",
      part('X: y\nContent-Disposition: form-data; name="model"', "w") + END,
      "malformed",
    ],
  ])("%s", (_what, text, expected) => {
    expect(read(text)).toEqual(expected);
    expect(read(text, bytewise)).toEqual(expected);
  });

  it("is found for every split", () => {
    const text = field("language", "de") + file + field("model", "whisper-1") + file + END;
    for (const cut of twoWaySplits(bytesOf(text))) expect(read(text, () => cut)).toEqual(["found", "whisper-1"]);
  });

  it("takes linear time", () => {
    const found = createModelPart("x");
    found.feed(bytesOf('--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n'));
    for (let i = 0; i < 400; i++) found.feed(Buffer.alloc(65_536, "\r\n--"));
    found.feed(bytesOf(`\r\n${field("model", "w")}${END}`));
    expect(found.state).toBe("found");
  });
});

describe("the boundary", () => {
  it.each<[string | null, string | undefined]>([
    ["multipart/form-data; boundary=x", "x"],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"', "a b"],
    ["multipart/form-data;boundary=----WebKit1", "----WebKit1"],
    ["multipart/form-data", undefined],
    ["multipart/form-data; boundary=", undefined],
    ["application/json", undefined],
    [null, undefined],
  ])("%s", (type, boundary) => expect(boundaryOf(type)).toBe(boundary));
});
