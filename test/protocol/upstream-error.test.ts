import { describe, expect, it } from "vitest";
import { isUnknownModel, readReport, toGatewayError } from "../../src/protocol/upstream-error.ts";

const shaped = (status: number | undefined, body: unknown): unknown => {
  const { status: sent, error } = toGatewayError(
    readReport(status, typeof body === "string" ? body : JSON.stringify(body)),
  );
  return [sent, error];
};
const error = (message: string, type: string, code: string | null = null, param: string | null = null): object => ({
  message,
  type,
  param,
  code,
});
const bad = (message: string, param: string | null = null): object =>
  error(message, "invalid_request_error", null, param);

describe("the shapes of errors become the envelope", () => {
  it.each<[string, number | undefined, unknown, number, object]>([
    [
      "vLLM",
      400,
      {
        error: {
          message: "temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)",
          type: "BadRequestError",
          param: "temperature",
          code: 400,
        },
      },
      400,
      bad("temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)", "temperature"),
    ],
    [
      "vLLM before 0.10.1, flat",
      400,
      { object: "error", message: "n must be 1", type: "BadRequestError", param: null, code: 400 },
      400,
      bad("n must be 1"),
    ],
    [
      "vLLM's queue",
      503,
      { error: { message: "The engine is currently busy.", type: "Service Unavailable", param: null, code: 503 } },
      503,
      error("The engine is currently busy.", "server_error", "upstream_failed"),
    ],
    [
      "vLLM scaling: error as text",
      503,
      { error: "The model is currently scaling. Please try again later." },
      503,
      error("The model is currently scaling. Please try again later.", "server_error", "upstream_failed"),
    ],
    ["Starlette", 405, { detail: "Method Not Allowed" }, 405, bad("Method Not Allowed")],
    [
      "pydantic",
      422,
      {
        detail: [
          {
            type: "missing",
            loc: ["body", "messages", 0, "role"],
            msg: "Field required",
            input: { content: "secret prompt" },
          },
        ],
      },
      422,
      bad("Field required", "messages[0].role"),
    ],
    [
      "pydantic, two faults",
      422,
      {
        detail: [
          { loc: ["body", "n"], msg: "Input should be a valid integer" },
          { loc: ["body", "stop"], msg: "Input should be a list" },
        ],
      },
      422,
      bad("Input should be a valid integer; Input should be a list", "n"),
    ],
    [
      "an error inside a 200 that names its status",
      undefined,
      { error: { message: "top_logprobs must be at most 20", type: "BadRequestError", param: null, code: 400 } },
      400,
      bad("top_logprobs must be at most 20"),
    ],
    [
      "an error inside a 200 with its status as text",
      undefined,
      { error: { message: "no", code: "404" } },
      404,
      bad("no"),
    ],
    [
      "an error inside a 200 with http_status_code (TGI)",
      undefined,
      { error: { message: "no", http_status_code: 422 } },
      422,
      bad("no"),
    ],
    [
      "an error inside a 200 with no status",
      undefined,
      { error: { message: "no" } },
      502,
      error("no", "server_error", "upstream_failed"),
    ],
    [
      "an error inside a 200, quota",
      undefined,
      { error: { message: "quota", type: "insufficient_quota", code: "insufficient_quota" } },
      429,
      error("quota", "insufficient_quota", "insufficient_quota"),
    ],
    [
      "TGI",
      422,
      { error: "Input validation error: `inputs` must be shorter", error_type: "validation" },
      422,
      bad("Input validation error: `inputs` must be shorter"),
    ],
    [
      "SGLang, flat",
      400,
      { object: "error", message: "no", type: "Bad Request", param: null, code: 400 },
      400,
      bad("no"),
    ],
    ["llama.cpp", 400, { error: { code: 400, message: "no", type: "invalid_request_error" } }, 400, bad("no")],
    [
      "llama.cpp, image for a text model",
      500,
      { error: { code: 500, message: "image input is not supported", type: "server_error" } },
      500,
      error("image input is not supported", "server_error", "upstream_failed"),
    ],
    [
      "Ollama",
      503,
      { error: { message: "server busy, please try again.", type: "api_error", param: null, code: null } },
      503,
      error("server busy, please try again.", "api_error", "upstream_failed"),
    ],
    [
      "OpenAI, a code",
      400,
      { error: { message: "no", type: "invalid_request_error", param: "x", code: "unknown_parameter" } },
      400,
      error("no", "invalid_request_error", "unknown_parameter", "x"),
    ],
    ["a message that is an object", 400, { error: { message: { detail: "no" } } }, 400, bad("no")],
    ["a message that is a list", 400, { error: { message: ["no", "never"] } }, 400, bad("no; never")],
    ["error as a list", 400, { error: ["no", "never"] }, 400, bad("no; never")],
    [
      "a list with one envelope (Gemini)",
      400,
      [{ error: { code: 400, message: "no", status: "INVALID_ARGUMENT" } }],
      400,
      bad("no"),
    ],
    [
      "errors",
      400,
      { errors: [{ message: "no", code: "bad_thing" }] },
      400,
      error("no", "invalid_request_error", "bad_thing"),
    ],
    [
      "Zod's issues",
      400,
      { success: false, error: { issues: [{ path: ["n"], message: "Expected number" }], name: "ZodError" } },
      400,
      bad("Expected number", "n"),
    ],
    [
      "error as a list of issues (llm-venice)",
      400,
      { error: [{ code: "unrecognized_keys", keys: ["x"], path: [], message: "Unrecognized key(s) in object: 'x'" }] },
      400,
      error("Unrecognized key(s) in object: 'x'", "invalid_request_error", "unrecognized_keys"),
    ],
    ["msg", 400, { code: 1234, msg: "no" }, 400, error("no", "invalid_request_error", "1234")],
    [
      "JSON text inside message",
      400,
      {
        error: {
          message: JSON.stringify({
            error: { message: "no", type: "invalid_request_error", param: "n", code: "unknown_parameter" },
          }),
        },
      },
      400,
      error("no", "invalid_request_error", "unknown_parameter", "n"),
    ],
    ["JSON text as the body", 400, JSON.stringify(JSON.stringify({ error: { message: "no" } })), 400, bad("no")],
    [
      "metadata.raw (OpenRouter)",
      400,
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: '{"error":{"message":"no","param":"n"}}', provider_name: "P" },
        },
      },
      400,
      bad("no", "n"),
    ],
    ["None as text", 400, { error: { message: "no", type: "None", param: "None", code: "None" } }, 400, bad("no")],
    [
      "plain text",
      500,
      "Internal Server Error",
      500,
      error("Internal Server Error", "server_error", "upstream_failed"),
    ],
    ["plain text of a proxy", 502, "error code: 502", 502, error("error code: 502", "server_error", "upstream_failed")],
    [
      "rate limit without a code",
      429,
      { error: { message: "slow down" } },
      429,
      error("slow down", "rate_limit_error", "rate_limit_exceeded"),
    ],
    [
      "rate limit of OpenAI",
      429,
      { error: { message: "slow down", type: "requests", param: null, code: "rate_limit_exceeded" } },
      429,
      error("slow down", "requests", "rate_limit_exceeded"),
    ],
    [
      "overloaded (529)",
      529,
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      503,
      error("Overloaded", "overloaded_error", "upstream_failed"),
    ],
  ])("%s", (_name, status, body, sent, expected) => expect(shaped(status, body)).toEqual([sent, expected]));

  it.each<[string, number | undefined, string]>([
    ["nothing", 500, ""],
    ["white space", 500, " \n"],
    ["HTML", 502, "<html><head><title>502 Bad Gateway</title></head><body><center>nginx/1.25</center></body></html>"],
    ["a doctype", 503, "<!DOCTYPE html><p>x"],
    ["an empty object", 500, "{}"],
    ["null", 500, "null"],
    ["an empty error", 500, '{"error":{}}'],
    ["an empty message", 500, '{"error":{"message":"","type":"InternalServerError"}}'],
    ["error: true", 500, '{"error":true}'],
  ])("says something of its own for %s", (_name, status, body) => {
    const {
      status: sent,
      error: { message, type, param, code },
    } = toGatewayError(readReport(status, body));
    expect([sent, type, param, code]).toEqual([status, "server_error", null, "upstream_failed"]);
    expect(message).toMatch(/^The upstream /);
  });

  it.each([
    [520, 502],
    [522, 502],
    [524, 502],
    [530, 502],
    [499, 502],
    [407, 502],
    [421, 502],
    [529, 503],
    [301, 502],
    [304, 502],
    [500, 500],
    [502, 502],
    [503, 503],
    [504, 504],
    [400, 400],
    [404, 404],
    [408, 408],
    [409, 409],
    [413, 413],
    [422, 422],
    [429, 429],
    [501, 501],
  ])("status %d leaves as %d", (status, sent) => {
    expect(toGatewayError(readReport(status, "")).status).toBe(sent);
  });

  it("all four members are there and of their types, whatever came", () => {
    const values: unknown[] = [
      1,
      "x",
      null,
      true,
      [],
      {},
      [1],
      ["x"],
      { message: 5 },
      { error: { message: 5, type: 5, param: 5, code: {} } },
      { error: { message: null } },
      { message: [[["x"]]] },
      { detail: { a: { b: "x" } } },
      { error: { error: { error: { error: { error: { error: { message: "deep" } } } } } } },
    ];
    for (const value of values) {
      const { error: sent } = toGatewayError(readReport(400, JSON.stringify(value)));
      expect(Object.keys(sent).sort()).toEqual(["code", "message", "param", "type"]);
      expect(sent.message).toMatch(/./);
      expect(typeof sent.type).toBe("string");
      for (const word of [sent.param, sent.code]) expect(word === null || typeof word === "string").toBe(true);
    }
  });
});

describe("context overflow gets context_length_exceeded", () => {
  it.each([
    "This model's maximum context length is 2048 tokens. However, your prompt contains at least 2049 input tokens",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (904 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens and your request has 19 input tokens (4096 > 2048 - 19).",
    "You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096, resulting in a maximum input length of 3996.",
    "The decoder prompt (length 2048) plus the number of requested output tokens (at least 1) is longer than the maximum model length of 2048.",
    "max_tokens=4096 cannot be greater than max_model_len=max_total_tokens=2048. Please request fewer output tokens.",
    "the request exceeds the available context size, try increasing it",
    "prompt is too long: 210000 tokens > 200000 maximum",
  ])("%s", (message) => {
    expect(
      toGatewayError(
        readReport(
          400,
          JSON.stringify({ error: { message, type: "BadRequestError", param: "input_tokens", code: 400 } }),
        ),
      ).error.code,
    ).toBe("context_length_exceeded");
    expect(toGatewayError(readReport(400, JSON.stringify({ object: "error", message }))).error.code).toBe(
      "context_length_exceeded",
    );
    expect(toGatewayError(readReport(undefined, JSON.stringify({ error: { message, code: 400 } }))).error.code).toBe(
      "context_length_exceeded",
    );
  });

  it("by llama.cpp's type", () => {
    expect(
      toGatewayError(
        readReport(
          400,
          '{"error":{"code":400,"message":"too much","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":5}}',
        ),
      ).error.code,
    ).toBe("context_length_exceeded");
  });

  it("not for other lengths", () => {
    for (const message of [
      "stop must be shorter than 4 items",
      "max_tokens must be at least 1, got 0.",
      "The context of your question is unclear",
      "tool name is too long",
    ]) {
      expect(toGatewayError(readReport(400, JSON.stringify({ error: { message } }))).error.code).toBe(null);
    }
  });
});

describe("isUnknownModel", () => {
  it.each<[number, unknown, boolean]>([
    [
      404,
      { error: { message: "The model `x` does not exist.", type: "NotFoundError", param: "model", code: 404 } },
      true,
    ],
    [404, { object: "error", message: "The model `x` does not exist.", code: 404 }, true],
    [404, { error: { message: "model 'x' not found, try pulling it first", type: "not_found_error" } }, true],
    [404, { error: { message: "no", code: "model_not_found" } }, true],
    [404, { error: { message: "The model `acme/llama-3.1` does not exist." } }, true],
    [
      404,
      { error: { message: "The model `meta-llama/Llama-3.3-70B-Instruct` does not exist.", type: "NotFoundError" } },
      true,
    ],
    [400, { error: { message: "no", code: "model_not_found" } }, true],
    [404, { detail: "Not Found" }, false],
    [404, { error: { message: "File Not Found", type: "not_found_error", code: 404 } }, false],
    [400, { error: { message: "The model `x` does not exist." } }, false],
  ])("%d %j: %s", (status, body, expected) =>
    expect(isUnknownModel(readReport(status, JSON.stringify(body)))).toBe(expected),
  );
});
