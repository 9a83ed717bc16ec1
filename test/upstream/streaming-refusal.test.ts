import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readReport } from "../../src/protocol/upstream-error.ts";
import { recogniseRefusal, type Asked, type StreamingRefusal } from "../../src/upstream/streaming-refusal.ts";
import { KEY_REFUSED, LOOK_ALIKES, OLDEST, OPTIONS_COMPLAINTS, POSITIVE, STREAM_ONLY } from "./refusal-wordings.ts";

const STREAM: Asked = { stream: true, options: true };
const WHOLE: Asked = { stream: false, options: false };
const envelope = (message: unknown, more: object = {}): string =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null, ...more } });
/** The error came inside a 200: no status but what the body names. */
const INSIDE = "inside";
const verdict = (
  body: string,
  status: number | typeof INSIDE = 400,
  asked: Asked = STREAM,
): StreamingRefusal | undefined => recogniseRefusal(readReport(status === INSIDE ? undefined : status, body), asked);

/** Where servers put their words. */
const CONTAINERS: readonly (readonly [string, (words: string) => string])[] = [
  ["an envelope", envelope],
  ["an envelope with the code as a number", (words) => envelope(words, { code: 400 })],
  ["an envelope with words for none", (words) => envelope(words, { param: "None", code: "None" })],
  [
    "a flat object",
    (words) => JSON.stringify({ object: "error", message: words, type: "BadRequestError", param: null, code: 400 }),
  ],
  ["a flat message", (words) => JSON.stringify({ message: words })],
  ["detail", (words) => JSON.stringify({ detail: words })],
  [
    "detail as a list of faults",
    (words) => JSON.stringify({ detail: [{ type: "value_error", loc: ["body", "stream"], msg: words, input: true }] }),
  ],
  ["detail as an object", (words) => JSON.stringify({ detail: { error: words } })],
  ["detail as an envelope", (words) => JSON.stringify({ detail: { error: { message: words } } })],
  ["error as text", (words) => JSON.stringify({ error: words })],
  ["error as text with a type", (words) => JSON.stringify({ error: words, error_type: "validation" })],
  ["error as a list of texts", (words) => JSON.stringify({ error: [words] })],
  ["errors as a list of texts", (words) => JSON.stringify({ errors: [words] })],
  ["errors as a list of objects", (words) => JSON.stringify({ errors: [{ message: words }] })],
  ["a list with one envelope", (words) => JSON.stringify([JSON.parse(envelope(words))])],
  ["a message that is an object", (words) => JSON.stringify({ error: { message: { detail: words } } })],
  ["a message that is a list", (words) => envelope([words])],
  ["JSON text inside message", (words) => envelope(envelope(words))],
  ["JSON text behind a status in message", (words) => envelope(`Error code: 400 - ${envelope(words)}`)],
  ["JSON text inside error", (words) => JSON.stringify({ error: envelope(words) })],
  [
    "JSON text inside metadata.raw",
    (words) => envelope("Provider returned error", { metadata: { raw: envelope(words), provider_name: "P" } }),
  ],
  ["plain text inside metadata.raw", (words) => envelope("Provider returned error", { metadata: { raw: words } })],
  ["JSON text as the whole body", (words) => JSON.stringify(envelope(words))],
  [
    "Python's dict inside message",
    (words) =>
      envelope(
        `litellm.BadRequestError: Error code: 400 - {'error': {'message': "${words}", 'type': 'invalid_request_error', 'param': 'stream'}}`,
      ),
  ],
  ["plain text", (words) => words],
  [
    "a relay's prefix and request id",
    (words) => envelope(`[provider/x] 400 Bad Request: ${words} (request id: 20240913A)`),
  ],
];

const upper = (words: string): string => words.toUpperCase();
const contracted = (words: string): string =>
  words
    .replace(/\bdoes not\b/g, "doesn't")
    .replace(/\bis not\b/g, "isn't")
    .replace(/(?<!is )\bnot supported/g, "isn't supported");
const expanded = (words: string): string => words.replace(/\b(is|does|do)n['’]t\b/gi, "$1 not");

describe("the oldest wordings", () => {
  const variants = OLDEST.flatMap((words) => [words, upper(words), contracted(words), `${words} for this model`]);
  it.each(CONTAINERS)("in %s", (_name, wrap) => {
    for (const words of variants) expect([words, verdict(wrap(words))]).toEqual([words, "no_stream"]);
  });

  it.each(OLDEST)("as a sentence: %s", (words) => {
    for (const sentence of [
      `${words}.`,
      `Error: ${words}.`,
      `${words}!`,
      `${words}; try again`,
      `Bad request: ${words}, see the docs.`,
      `(${words})`,
    ]) {
      expect([sentence, verdict(envelope(sentence))]).toEqual([sentence, "no_stream"]);
    }
  });

  it("as the first event of a 200, which names no status", () => {
    for (const words of OLDEST) expect(verdict(envelope(words), INSIDE)).toBe("no_stream");
    for (const words of OLDEST) expect(verdict(envelope(words, { code: 400 }), INSIDE)).toBe("no_stream");
  });

  it.each([400, 404, 405, 406, 415, 422, 501])("with status %d", (status) => {
    for (const words of OLDEST) expect(verdict(envelope(words), status)).toBe("no_stream");
  });

  it.each([401, 403, 408, 409, 429, 500, 502, 503, 504, 529])("never with status %d", (status) => {
    for (const words of [...OLDEST, "Unsupported value: 'stream' does not support true"]) {
      expect(verdict(envelope(words), status)).toBe(undefined);
      expect(verdict(envelope(words, { param: "stream" }), status)).toBe(undefined);
    }
  });

  it("inside a 200 that names such a status", () => {
    for (const status of [401, 403, 408, 409, 429, 500, 503])
      expect(verdict(envelope("streaming not supported", { code: status }), INSIDE)).toBe(undefined);
  });

  it.each([
    "Cannot use tools with stream",
    "cannot use tools with stream",
    "Can't use tools with stream",
    "logprobs is not supported with tools + stream",
    "cannot handle more than 1 `PromptStrings` when Streaming",
  ])("with status 500: %s", (words) => {
    expect(verdict(envelope(words, { code: 500 }), 500)).toBe("no_stream");
    expect(verdict(envelope(words, { code: 500 }), INSIDE)).toBe("no_stream");
  });

  it("not when param names another field", () => {
    for (const param of ["messages[0].role", "model", "tools", "tools[0].function.name", "response_format", "n"]) {
      for (const words of OLDEST)
        expect([param, words, verdict(envelope(words, { param }))]).toEqual([param, words, undefined]);
    }
  });

  it("when param names stream, whatever the words", () => {
    for (const param of ["stream", "body.stream", "$.stream", "#/stream"]) {
      for (const words of ["Unsupported value.", "not allowed", "", "Invalid parameter"])
        expect([param, words, verdict(envelope(words, { param }))]).toEqual([param, words, "no_stream"]);
    }
  });

  it.each([
    "stream_not_supported",
    "streaming_not_supported",
    "unsupported_stream",
    "streaming_unsupported",
    "stream_unsupported",
    "streaming_disabled",
    "STREAMING_NOT_SUPPORTED",
  ])("as the code %s", (code) => {
    expect(verdict(envelope("Bad request.", { code }))).toBe("no_stream");
  });

  it("with status 406, whatever the words", () => {
    expect(verdict("", 406)).toBe("no_stream");
    expect(verdict(envelope("Not Acceptable"), 406)).toBe("no_stream");
  });
});

describe("further wordings", () => {
  it.each(POSITIVE)("%s", (words) => {
    for (const variant of [words, upper(words), expanded(words)])
      expect([variant, String(verdict(envelope(variant)))]).toEqual([
        variant,
        expect.stringMatching(/^no_stream(?:_key)?$/),
      ]);
    expect(String(verdict(JSON.stringify({ detail: words })))).toMatch(/^no_stream(?:_key)?$/);
  });

  it("are enough", () => expect(new Set(POSITIVE).size).toBeGreaterThanOrEqual(60));

  it.each(KEY_REFUSED)("the key itself: %s", (words) => expect(verdict(envelope(words))).toBe("no_stream_key"));

  it("the key is refused in a request that does not stream, too", () => {
    for (const words of KEY_REFUSED.slice(0, 1)) expect(verdict(envelope(words), 400, WHOLE)).toBe("no_stream_key");
  });
});

describe("look-alikes", () => {
  it.each(LOOK_ALIKES)("%s", (words) => {
    expect(verdict(envelope(words))).toBe(undefined);
    expect(verdict(JSON.stringify({ detail: words }), 422)).toBe(undefined);
    expect(verdict(words)).toBe(undefined);
  });

  it("are enough", () => expect(new Set(LOOK_ALIKES).size).toBeGreaterThanOrEqual(60));

  it("a validator that quotes the request, in which the words stand", () => {
    const input = { stream: true, messages: [{ role: "user", content: "streaming is not supported" }] };
    expect(
      verdict(
        JSON.stringify({ detail: [{ type: "missing", loc: ["body", "model"], msg: "Field required", input }] }),
        422,
      ),
    ).toBe(undefined);
    expect(
      verdict(
        envelope(
          `[{'type': 'missing', 'loc': ('body', 'model'), 'msg': 'Field required', 'input': {'stream': True, 'messages': [{'role': 'user', 'content': 'streaming is not supported'}]}}]`,
        ),
      ),
    ).toBe(undefined);
  });

  it("a long text is read in bounded work", () => {
    expect(verdict(envelope("streaming ".repeat(50_000)))).toBe(undefined);
    expect(verdict(envelope("is not ".repeat(50_000)))).toBe(undefined);
    expect(verdict(envelope("unsupported value ".repeat(50_000)))).toBe(undefined);
  });
});

describe("stream_options", () => {
  it.each(OPTIONS_COMPLAINTS)("%s", (words) => {
    for (const variant of [words, words.toUpperCase().replace(/STREAM_OPTIONS/g, "stream_options")]) {
      expect(verdict(envelope(variant))).toBe("no_options");
      expect(verdict(envelope(variant), 400, { stream: true, options: false })).toBe(undefined);
    }
    expect(verdict(JSON.stringify({ detail: words }), 422)).toBe("no_options");
  });

  it("by param or by place", () => {
    expect(verdict(envelope("Not supported", { param: "stream_options" }))).toBe("no_options");
    expect(verdict(envelope("Not supported", { param: "stream_options.include_usage" }))).toBe("no_options");
    expect(verdict(envelope("Not supported", { param: "body.stream_options" }))).toBe("no_options");
    expect(
      verdict(
        JSON.stringify({
          detail: [
            {
              type: "extra_forbidden",
              loc: ["body", "stream_options"],
              msg: "Extra inputs are not permitted",
              input: { include_usage: true },
            },
          ],
        }),
        422,
      ),
    ).toBe("no_options");
  });
});

describe("stream only", () => {
  it.each(STREAM_ONLY)("%s", (words) => {
    for (const variant of [words, upper(words)]) expect(verdict(envelope(variant), 400, WHOLE)).toBe("only_stream");
    expect(verdict(JSON.stringify({ detail: words }), 400, WHOLE)).toBe("only_stream");
  });

  it("look-alikes do not turn a whole request into a stream", () => {
    for (const words of LOOK_ALIKES) expect([words, verdict(envelope(words), 400, WHOLE)]).toEqual([words, undefined]);
  });

  it("a refusal of streaming to a request that does not stream is nothing to act upon", () => {
    for (const words of OLDEST) expect([words, verdict(envelope(words), 400, WHOLE)]).toEqual([words, undefined]);
  });

  it("never with a status that means something else", () => {
    for (const status of [401, 403, 429, 500, 503])
      expect(verdict(envelope("This model only supports streaming"), status, WHOLE)).toBe(undefined);
  });
});

interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly body?: readonly (string | { readonly JSON?: unknown })[];
}
interface Row {
  readonly row: number;
  readonly v?: string;
  readonly verdict: "yes" | "no" | "no-options" | "trap" | "stream" | "either";
  readonly title: string;
  readonly judgement?: boolean;
  readonly omit?: boolean;
  readonly reply: Reply;
}
const rowsOf = (folder: string): Row[] =>
  JSON.parse(readFileSync(new URL(`../fixtures/${folder}/refusals.json`, import.meta.url), "utf8")) as Row[];

/** The error document of a reply: its body, or the data of its first event. */
function documentOf({ json, text, body = [] }: Reply): string {
  if (json !== undefined) return JSON.stringify(json);
  if (text !== undefined) return text;
  const [first] = body;
  return typeof first === "string" ? first.replace(/^data: ?/, "").trimEnd() : JSON.stringify(first?.JSON);
}

describe("the rows of the tables", () => {
  const expected = ({ verdict: wanted, omit, judgement }: Row): RegExp => {
    switch (wanted) {
      case "yes":
        return judgement === true
          ? /^(?:no_stream|no_stream_key|undefined)$/
          : omit === true
            ? /^no_stream_key$/
            : /^no_stream(?:_key)?$/;
      case "no-options":
      case "trap":
        return /^no_options$/;
      case "no":
        return /^undefined$/;
      case "stream":
        return /^only_stream$/;
      case "either":
        return /^(?:only_stream|undefined)$/;
    }
  };
  it.each(
    [...rowsOf("cases"), ...rowsOf("cases-own")].map((row) => [`${row.row}${row.v ?? ""} ${row.title}`, row] as const),
  )("%s", (_name, row) => {
    const asked = row.verdict === "stream" || row.verdict === "either" ? WHOLE : STREAM;
    expect(String(verdict(documentOf(row.reply), row.reply.status ?? INSIDE, asked))).toMatch(expected(row));
  });
});
