import { describe, expect, it } from "vitest";
import { failureFromBody } from "../../src/protocol/chat/part.ts";
import { gatewayError } from "../../src/protocol/errors.ts";
import { errorFor, keptHeaders, modelNotFound } from "../../src/upstream/failure.ts";
import { targetOf } from "./target-of.ts";

const sent = (status: number | undefined, body: string, model?: string): unknown => {
  const { status: code, error } = errorFor(failureFromBody(status, body), targetOf({ model }), "asked", []);
  return [code, error.code, error.param];
};
const UNKNOWN = JSON.stringify({
  error: {
    message: "The model `served` does not exist. Valid aliases: a, b",
    type: "NotFoundError",
    param: "model",
    code: 404,
  },
});

describe("errorFor", () => {
  it.each<[string, number | undefined, string, string | undefined, unknown]>([
    ["401 is the operator's", 401, '{"error":"Unauthorized"}', undefined, [502, "upstream_unauthorized", null]],
    [
      "403 is the operator's",
      403,
      '{"error":{"message":"no","code":"forbidden"}}',
      undefined,
      [502, "upstream_unauthorized", null],
    ],
    ["401 with an empty body", 401, "", undefined, [502, "upstream_unauthorized", null]],
    [
      "401 inside a 200",
      undefined,
      '{"error":{"message":"Unauthorized","code":401}}',
      undefined,
      [502, "upstream_unauthorized", null],
    ],
    ["an unknown model that the client named", 404, UNKNOWN, undefined, [404, "model_not_found", "model"]],
    ["an unknown model that the target names", 404, UNKNOWN, "served", [502, "upstream_model_not_found", null]],
    ["an unknown path", 404, '{"detail":"Not Found"}', undefined, [404, "endpoint_not_supported", null]],
    ["a redirect", 302, "", undefined, [502, "upstream_redirect", null]],
    ["a permanent redirect", 308, "<html>", undefined, [502, "upstream_redirect", null]],
    [
      "the client's fault",
      400,
      '{"error":{"message":"no","type":"invalid_request_error","param":"n","code":"invalid_value"}}',
      undefined,
      [400, "invalid_value", "n"],
    ],
    ["the upstream's fault", 500, "boom", undefined, [500, "upstream_failed", null]],
    ["402", 402, '{"error":{"message":"pay"}}', undefined, [402, null, null]],
  ])("%s", (_name, status, body, model, expected) => expect(sent(status, body, model)).toEqual(expected));

  it("an unknown path is no fault of the client when the target sets the model", () => {
    // An upstream that answers 404 to the path of its own base URL is wrongly configured.
    expect(sent(404, '{"detail":"Not Found"}', "served")).not.toEqual([401, null, null]);
  });

  it("an unknown model's error names what the client asked for, and nothing that is served", () => {
    const { error } = errorFor(failureFromBody(404, UNKNOWN), targetOf(), "asked", []);
    expect(error).toEqual(modelNotFound("asked").error);
    const operator = errorFor(failureFromBody(404, UNKNOWN), targetOf({ model: "served" }), "asked", []);
    expect(operator.error.message).not.toMatch(/served\b`|aliases|`/);
  });

  it("the words about a key do not leave", () => {
    const { error } = errorFor(
      failureFromBody(401, '{"error":{"message":"Incorrect API key provided: sk-abcdefghijklmnop1234"}}'),
      targetOf(),
      "asked",
      [],
    );
    expect(error.message).not.toContain("sk-");
  });

  it("hides the upstream's host", () => {
    const { error } = errorFor(
      failureFromBody(500, "http://gpu.example:8000/v1 is down, gpu.example:8000 too"),
      targetOf(),
      "asked",
      [],
    );
    expect(error.message).not.toContain("gpu.example");
  });

  it("keeps the headers that came with it", () => {
    const failure = failureFromBody(429, '{"error":{"message":"slow"}}');
    const headers = { "retry-after": "3" };
    expect(errorFor({ ...failure, error: { ...failure.error, headers } }, targetOf(), "asked", []).headers).toEqual(
      headers,
    );
  });

  it("leaves an error of our own alone", () => {
    const error = gatewayError("upstream_timeout", "late");
    expect(errorFor({ error }, targetOf(), "asked", [])).toBe(error);
  });
});

describe("keptHeaders", () => {
  it("keeps rate limits and retry advice, and nothing else", () => {
    const headers = new Headers({
      "retry-after": "3",
      "Retry-After-Ms": "3000",
      "x-should-retry": "false",
      "x-ratelimit-remaining-requests": "5",
      "x-ratelimit-reset-tokens": "6m0s",
      "set-cookie": "a=b",
      server: "uvicorn",
      "x-request-id": "r",
      "content-length": "5",
      "content-encoding": "gzip",
      location: "http://x",
      "cf-ray": "1",
      "openai-organization": "org",
      authorization: "x",
      "www-authenticate": "Bearer",
      "x-api-key": "k",
      via: "x",
      "x-powered-by": "y",
    });
    expect(keptHeaders(headers)).toEqual({
      "retry-after": "3",
      "retry-after-ms": "3000",
      "x-should-retry": "false",
      "x-ratelimit-remaining-requests": "5",
      "x-ratelimit-reset-tokens": "6m0s",
    });
  });
});

describe("modelNotFound", () => {
  it("is OpenAI's error", () => {
    expect(modelNotFound("x")).toEqual({
      status: 404,
      error: {
        message: "The model `x` does not exist or you do not have access to it.",
        type: "invalid_request_error",
        param: "model",
        code: "model_not_found",
      },
    });
  });
  it("does not repeat a name without end", () =>
    expect(modelNotFound("x".repeat(10_000)).error.message.length).toBeLessThan(400));
});
