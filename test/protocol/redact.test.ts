import { describe, expect, it } from "vitest";
import { redact } from "../../src/protocol/redact.ts";

describe("what tells about the platform does not leave", () => {
  it.each<[string, string, readonly string[]]>([
    [
      "vLLM's served names",
      "The model `x` does not exist. Valid aliases: big-secret-model, other-model",
      ["big-secret-model", "other-model"],
    ],
    ["available models", "Unknown model. Available models: ['alpha-1', 'beta-2']", ["alpha-1", "beta-2"]],
    ["a list of supported models", "model x not found; supported models are alpha-1, beta-2", ["alpha-1", "beta-2"]],
    ["an IPv4 address", "connect to 10.0.0.5 failed", ["10.0.0.5"]],
    ["an IPv4 address with a port", "connect to 10.0.0.5:8000 failed", ["10.0.0.5", "8000"]],
    ["an IPv6 address in brackets", "connect to [fd00::5]:8000 failed", ["fd00::5"]],
    ["a bare IPv6 address", "connect to fd00:1:2::5 failed", ["fd00:1:2::5"]],
    ["a full IPv6 address", "peer 2001:0db8:85a3:0000:0000:8a2e:0370:7334 refused", ["2001:0db8", "7334"]],
    ["localhost", "HTTPConnectionPool(host='localhost', port=8000): Max retries exceeded", ["localhost"]],
    [
      "a host in a pool",
      "HTTPSConnectionPool(host='gpu-7.prod.acme.io', port=443): Max retries exceeded with url: /v1/x",
      ["gpu-7.prod.acme.io"],
    ],
    ["an internal name", "could not resolve vllm.models.svc.cluster.local", ["vllm.models", "cluster.local"]],
    ["an internal URL", "POST http://gpu-7.internal:8000/v1/chat/completions failed", ["gpu-7", "8000"]],
    ["an internal URL of one word", "POST http://vllm-backend:8000/v1/chat/completions failed", ["vllm-backend"]],
    ["dial tcp", "dial tcp 172.17.0.2:8000: connect: connection refused", ["172.17.0.2"]],
    ["lookup", "lookup gpu7.corp on 127.0.0.11:53: no such host", ["gpu7.corp", "127.0.0.11"]],
    [
      "a key of OpenAI",
      "Incorrect API key provided: sk-proj-abcdefghijklmnop1234.",
      ["sk-proj-abcdefghijklmnop1234", "abcdefghijklmnop"],
    ],
    ["a key with stars", "Incorrect API key provided: sk-abcd************wxyz.", ["wxyz", "sk-abcd"]],
    ["a bearer token", "Authorization: Bearer abc.def-123456 is wrong", ["abc.def-123456"]],
    ["a key in JSON", '{"api_key": "abcdef123456"} is wrong', ["abcdef123456"]],
    ["a key in a query", "GET https://api.example.com/v1?key=abcdef123456&x=1 failed", ["abcdef123456"]],
    ["a JWT", "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh is bad", ["eyJhbGciOiJIUzI1NiJ9", "abcdefgh"]],
    ["credentials in a URL", "fetch https://user:pass@api.example.com/v1 failed", ["user:pass", "pass@"]],
    ["a database URL", "postgres://app:hunter2@db/prod is down", ["hunter2"]],
    ["a path", "Failed to load /mnt/models/secret-7b/config.json", ["/mnt/models", "secret-7b"]],
    ["a home path", "No such file: '/home/ops/vllm/main.py'", ["/home/ops"]],
    ["a path of Windows", "Could not open C:\\models\\secret\\x.bin", ["models\\secret"]],
    ["a path with an extension at the root", "cannot open /etc/passwd", ["/etc/passwd"]],
    [
      "Python's traceback",
      'boom\nTraceback (most recent call last):\n  File "/usr/lib/python3/site-packages/vllm/x.py", line 5, in f\n    raise X\nValueError: y',
      ["Traceback", "/usr/lib", "line 5"],
    ],
    [
      "a stack of JavaScript",
      "TypeError: x\n    at foo (/srv/app/index.js:10:5)\n    at bar (/srv/app/b.js:1:1)",
      ["/srv/app", "foo"],
    ],
    ["a file and line of Python", 'boom File "/opt/vllm/engine.py", line 12, in step', ["/opt/vllm", "line 12"]],
    ["an AWS host", "ip-10-1-2-3.eu-west-1.compute.internal refused", ["ip-10-1-2-3"]],
  ])("%s", (_name, message, secrets) => {
    const text = redact(message);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it("the upstream's own host, whatever it is called", () => {
    const text = redact("cannot reach api.acme-gpu.example:8443 or https://api.acme-gpu.example:8443/v1", {
      host: "api.acme-gpu.example:8443",
      secrets: [],
    });
    expect(text).not.toContain("acme-gpu");
  });

  it("the upstream's own host without its port", () => {
    expect(
      redact("host api.acme-gpu.example is down", { host: "api.acme-gpu.example:8443", secrets: [] }),
    ).not.toContain("acme-gpu");
  });

  it("is bounded", () => expect(redact("x".repeat(100_000)).length).toBeLessThanOrEqual(4001));

  it("keeps what stands before it", () => {
    expect(redact("The model `x` does not exist. Valid aliases: a, b")).toBe("The model `x` does not exist.");
    expect(redact("connect to 10.0.0.5:8000 failed")).toBe("connect to [hidden] failed");
  });
});

describe("what is about the client's request stays readable", () => {
  it.each([
    "temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)",
    "This model's maximum context length is 2048 tokens. However, you requested 4096 tokens (96 in the messages, 4000 in the completion).",
    "Invalid MIME type: image/svg+xml. Supported: image/png, image/jpeg, application/json.",
    "content-type must be application/json; charset=utf-8",
    "This model is only supported in v1/responses and not in v1/chat/completions.",
    "Use /v1/responses or /v1/chat/completions instead.",
    "POST /v1/chat/completions: not found",
    "The model `meta-llama/Llama-3.3-70B-Instruct` does not exist.",
    "The model `org/team/model-7b` does not exist or you do not have access to it.",
    "Model acme/llama-3.1-8b:free is not available",
    "Rate limit reached. Please try again in 1.5s. Limit: 10/min, used 10/10.",
    "Please try again at 2024-10-21T10:00:00Z or 10:30:15.",
    "expected one of 'low'/'medium'/'high'",
    "messages[0].content[1].image_url.url: must be a URL",
    "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    "top_k must be 0 (disable), or at least 1, got -2.",
    "max_tokens: 5 > 4, n=2, stop=['</s>', '<|im_end|>']",
    "key 'api_version' is unknown",
    "max_tokens=4096 cannot be greater than max_model_len=2048",
    "Invalid token: 5 at position 10",
    "The token limit is 4096",
    "Basic usage of tools is not allowed here",
    "Validation error at #/stream_options: Extra inputs are not permitted",
    "Visit https://platform.openai.com/docs/api-reference/chat for details.",
    "version 1.2.3 of the API does not support this, use 1.3.0",
    "Invalid JSON: </tool_call> expected, and/or more",
    "n must be in [1, 128]; ratio 3/4/5 is wrong",
    'Grammar error in rule root ::= "a" | b',
    "token budget: reasoning tokens must be under 21K",
    "Unknown parameter: 'skip_special_tokens'.",
    "key-value pairs in metadata must be strings",
    "tool_call_id 'call_abcdefghijklmnopqrstuvwx' has no matching call",
  ])("%s", (message) => expect(redact(message, { host: "gpu.example:8000", secrets: [] })).toBe(message));
});
