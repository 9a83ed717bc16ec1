import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEY, messages, oneTenant, startRig, type Rig } from "./rig.ts";
import { openRaw, rawRequest } from "./raw-client.ts";
import { always } from "./scripted-upstream.ts";
import { completion, refusal, response, streamOf } from "./wire.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ document: (url) => oneTenant(url) });
  rig.upstream.answer("m", ({ asked, put }) =>
    put(asked.body.includes('"stream":true') ? streamOf("hello") : response(200, completion("hello"))),
  );
});
afterAll(() => rig.stop());

const authorization = `Bearer ${KEY}`;
const call = (method: string, path: string, more: RequestInit = {}): Promise<Response> =>
  fetch(`${rig.gateway.url}${path}`, { method, ...more, headers: { authorization, ...more.headers } });

async function envelope(answer: Response): Promise<{ status: number; code: string | null }> {
  expect(answer.headers.get("content-type")).toContain("application/json");
  const { error } = (await answer.json()) as { error: { code: string | null } };
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  return { status: answer.status, code: error.code };
}

describe("paths and methods", () => {
  test.each(["/v1/chat/completions", "/chat/completions"])("POST %s", async (path) => {
    const answer = await call("POST", path, { body: JSON.stringify({ model: "m", messages }) });
    expect(answer.status).toBe(200);
  });

  test.each([
    "/",
    "/v1",
    "/v1/",
    "/v2/chat/completions",
    "/v1/v1/models",
    "/v1/chat",
    "/V1/models",
    "/v1/nothing",
    "/%ff",
    "//v1/models",
  ])("%s is unknown", async (path) => {
    const client = await openRaw(rig.gateway.url, rawRequest(`GET ${path}`, [`authorization: ${authorization}`]));
    const answer = await client.answer();
    client.close();
    expect({
      status: answer.status,
      code: (JSON.parse(answer.body) as { error: { code: string } }).error.code,
    }).toEqual({ status: 404, code: "not_found" });
  });

  test.each([
    ["GET", "/v1/chat/completions", "POST"],
    ["PUT", "/chat/completions", "POST"],
    ["DELETE", "/v1/chat/completions", "POST"],
    ["PATCH", "/v1/models", "GET"],
    ["POST", "/v1/models", "GET"],
    ["DELETE", "/v1/models/m", "GET"],
    ["POST", "/health", "GET"],
  ])("%s %s is not allowed, and it says what is", async (method, path, allowed) => {
    const answer = await call(method, path);
    expect(answer.headers.get("allow")).toContain(allowed);
    expect(await envelope(answer)).toEqual({ status: 405, code: "method_not_allowed" });
  });

  test.each(["GET", "POST", "DELETE"])("%s /v1/responses names the cure", async (method) => {
    for (const path of ["/v1/responses", "/responses", "/v1/responses/resp_1"]) {
      const answer = await call(method, path);
      expect(await answer.clone().text()).toContain("/v1/chat/completions");
      expect((await envelope(answer)).status).toBe(404);
    }
  });

  test("HEAD is GET without a body", async () => {
    for (const path of ["/health", "/v1/models", "/v1/models/m"]) {
      const [head, get] = [await call("HEAD", path), await call("GET", path)];
      expect(head.status).toBe(200);
      expect(await head.text()).toBe("");
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      await get.text();
    }
    expect((await call("HEAD", "/v1/chat/completions")).status).toBe(405);
    expect((await call("HEAD", "/nothing")).status).toBe(404);
  });

  test("health needs no key and tells nothing", async () => {
    const answer = await fetch(`${rig.gateway.url}/health`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toMatch(/acme|plain|127\.0/);
  });

  test("a connection is kept for the next request, whatever the last one was", async () => {
    const client = await openRaw(rig.gateway.url);
    const lines = [
      rawRequest("GET /health", []),
      rawRequest("GET /nothing", []),
      rawRequest(
        "POST /v1/chat/completions",
        [`authorization: ${authorization}`],
        JSON.stringify({ model: "m", messages: [] }),
      ),
      rawRequest(
        "POST /v1/chat/completions",
        [`authorization: ${authorization}`],
        JSON.stringify({ model: "m", messages, stream: true }),
      ),
      rawRequest("GET /health", []),
    ];
    let answers = 0;
    for (const bytes of lines) {
      client.socket.write(bytes);
      answers++;
      while (client.received().split("HTTP/1.1 ").length - 1 < answers)
        await new Promise((settle) => client.socket.once("data", settle));
      await new Promise((settle) => setTimeout(settle, 150));
    }
    expect(client.received().match(/HTTP\/1\.1 (\d+)/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 404",
      "HTTP/1.1 400",
      "HTTP/1.1 200",
      "HTTP/1.1 200",
    ]);
    client.close();
  });
});

describe("a browser", () => {
  const origin = "https://app.test";
  const sdk =
    "authorization,content-type,x-stainless-arch,x-stainless-helper-method,x-stainless-lang,x-stainless-os,x-stainless-package-version,x-stainless-poll-helper,x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version,x-stainless-timeout,x-tenant,openai-beta";

  test.each(["/v1/chat/completions", "/chat/completions", "/v1/models", "/v1/models/a%2Fb", "/v1/responses"])(
    "may ask %s",
    async (path) => {
      const method = path.includes("models") ? "GET" : "POST";
      const answer = await fetch(`${rig.gateway.url}${path}`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": method, "access-control-request-headers": sdk },
      });
      expect([200, 204]).toContain(answer.status);
      expect(await answer.text()).toBe("");
      expect(["*", origin]).toContain(answer.headers.get("access-control-allow-origin"));
      expect(answer.headers.get("access-control-allow-methods")).toContain(method);
      const allowed = (answer.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/\s*,\s*/);
      for (const name of sdk.split(",")) expect(allowed).toContain(name);
    },
  );

  test("reads answers and errors, and the headers in them", async () => {
    rig.upstream.answer("limited", always(response(429, refusal("slow"), "Retry-After: 3\r\n")));
    const answers = [
      await call("POST", "/v1/chat/completions", {
        body: JSON.stringify({ model: "m", messages }),
        headers: { origin },
      }),
      await call("POST", "/v1/chat/completions", {
        body: JSON.stringify({ model: "m", messages, stream: true }),
        headers: { origin },
      }),
      await call("POST", "/v1/chat/completions", {
        body: JSON.stringify({ model: "limited", messages }),
        headers: { origin },
      }),
      await call("GET", "/v1/models", { headers: { origin, authorization: "Bearer wrong" } }),
      await call("GET", "/nothing", { headers: { origin } }),
    ];
    for (const answer of answers) {
      await answer.text();
      expect(["*", origin]).toContain(answer.headers.get("access-control-allow-origin"));
      expect(answer.headers.get("access-control-expose-headers")).toMatch(/x-request-id/);
      expect(answer.headers.get("access-control-expose-headers")).toMatch(/retry-after/);
    }
  });

  test.each(["bad\u0001name", 'x"<script>'])(
    "cannot have header names of its own making repeated: %s",
    async (asked) => {
      const client = await openRaw(
        rig.gateway.url,
        rawRequest("OPTIONS /v1/models", [`origin: ${origin}`, `access-control-request-headers: ${asked}`]),
      );
      const answer = await client.answer();
      client.close();
      expect(answer.headers["access-control-allow-headers"] ?? "").not.toContain("<script>");
      expect(answer.headers["access-control-allow-headers"] ?? "").not.toContain("bad");
    },
  );
});

describe("x-request-id", () => {
  test("is the client's own if it is one, else a fresh one; never the upstream's", async () => {
    const ask = (id?: string): Promise<Response> =>
      call("POST", "/v1/chat/completions", {
        body: JSON.stringify({ model: "m", messages }),
        headers: id === undefined ? {} : { "x-request-id": id },
      });
    const ids = [
      await ask("client-1"),
      await ask(),
      await ask(),
      await ask("x".repeat(500)),
      await ask("a b"),
      await ask('"><script>'),
    ].map((answer) => answer.headers.get("x-request-id"));
    expect(ids[0]).toBe("client-1");
    for (const id of ids.slice(1)) expect(id).toMatch(/^req_[\w]{16,}$/);
    expect(new Set(ids).size).toBe(ids.length);
    const seen = rig.upstream
      .asked("m")
      .slice(-6)
      .map(({ headers }) => headers["x-request-id"]);
    expect(new Set([...seen, ...ids]).size).toBe(seen.length + ids.length);
  });

  test("is there on every answer, and a new one for each attempt upstream", async () => {
    for (const [method, path] of [
      ["GET", "/health"],
      ["OPTIONS", "/v1/models"],
      ["GET", "/nothing"],
      ["DELETE", "/v1/models"],
    ] as const) {
      expect((await call(method, path)).headers.get("x-request-id")).toBeTruthy();
    }
    rig.upstream.answer(
      "refuses",
      always(response(400, refusal("streaming not supported"))),
      always(response(200, completion("hello"))),
    );
    const answer = await call("POST", "/v1/chat/completions", {
      body: JSON.stringify({ model: "refuses", messages, stream: true }),
      headers: { "x-request-id": "mine" },
    });
    expect(await answer.text()).toContain("hello");
    const ids = rig.upstream.asked("refuses").map(({ headers }) => headers["x-request-id"]);
    expect(new Set([...ids, "mine"]).size).toBe(3);
  });

  test("cannot carry a line break into an answer, a request or the log", async () => {
    const client = await openRaw(rig.gateway.url, rawRequest("GET /health", ["x-request-id: a\rset-cookie: x=1"]));
    const answer = await client.answer().catch(() => undefined);
    client.close();
    expect(answer?.headers["set-cookie"]).toBeUndefined();
    const broken = JSON.stringify({ model: "m\r\nx-evil: 1", messages });
    const told = await call("POST", "/v1/chat/completions", { body: broken });
    await told.text();
    expect([...told.headers.keys()]).not.toContain("x-evil");
    expect(rig.gateway.logs()).not.toContain("x-evil");
  });
});
