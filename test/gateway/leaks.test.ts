import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorOf, hashed, readEvents, startRig, type Rig } from "./rig.ts";
import { always, type Script } from "./scripted-upstream.ts";
import { completion, event, inChunk, lastChunk, refusal, response, role, says, streamHead, streamOf } from "./wire.ts";

const KEYS = { acme: "sk-acme-client-key-0001", beta: "sk-beta-client-key-0002" };
const SECRET = "gpu-credential-plain-words";
const ACCESS = "access-header-secret-words";
const PROMPT = "the patient is called Ottilie";
const ANSWER = "Ottilie has a rare disease";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    secrets: { GPU_KEY: SECRET, ACCESS_KEY: ACCESS, EMPTY: "" },
    serviceBindings: { SERVICE: () => new globalThis.Response("no") as never },
    document: (baseUrl) => {
      const gpu = {
        base_url: baseUrl,
        credential: "GPU_KEY",
        headers: { "x-access": { secret: "ACCESS_KEY" }, "x-plain": "words" },
      };
      const to = (upstream: string, model?: string): object => ({
        targets: [{ upstream, ...(model === undefined ? {} : { model }) }],
      });
      return {
        upstreams: {
          gpu,
          alive: { ...gpu, keep_alive_ms: 100 },
          unset: { base_url: baseUrl, credential: "NOT_SET" },
          empty: { base_url: baseUrl, credential: "EMPTY" },
          inherited: { base_url: baseUrl, credential: "toString" },
          constructed: { base_url: baseUrl, credential: "constructor" },
          bound: { base_url: baseUrl, credential: "SERVICE" },
          header: { base_url: baseUrl, headers: { "x-key": { secret: "hasOwnProperty" } } },
          nowhere: { base_url: "http://127.0.0.1:9/v1?key=url-secret-words", credential: "GPU_KEY" },
          unbound: { base_url: baseUrl, binding: "constructor" },
          textbound: { base_url: baseUrl, binding: "GPU_KEY" },
        },
        routes: {
          "m/*": to("gpu"),
          "alive/*": to("alive"),
          ...Object.fromEntries(
            ["unset", "empty", "inherited", "constructed", "bound", "header", "nowhere", "unbound", "textbound"].map(
              (name) => [name, to(name)],
            ),
          ),
          renamed: to("gpu", "internal-name-of-the-model"),
        },
        tenants: { acme: { keys: [hashed(KEYS.acme)] }, beta: { keys: [hashed(KEYS.beta)] } },
      };
    },
  });
});
afterAll(() => rig.stop());

const messages = [{ role: "user", content: PROMPT }];
const ask = (model: string, stream = false, tenant: keyof typeof KEYS = "acme", more: object = {}): Promise<Response> =>
  rig.ask(
    { model, stream, messages, ...more },
    { headers: { authorization: `Bearer ${KEYS[tenant]}`, "x-tenant": tenant } },
  );

describe("a credential", () => {
  test.each([
    ["unset", "credential_missing"],
    ["empty", "credential_missing"],
    ["inherited", "credential_missing"],
    ["constructed", "credential_missing"],
    ["bound", "credential_missing"],
    ["header", "credential_missing"],
    ["unbound", "binding_missing"],
    ["textbound", "binding_missing"],
    ["nowhere", "upstream_unreachable"],
  ])("%s: a 502 that says whose fault it is and no more", async (model, code) => {
    for (const stream of [false, true]) {
      const answer = await ask(model, stream);
      const text = await answer.clone().text();
      expect(await errorOf(answer)).toMatchObject({ status: 502, code });
      expect(text).not.toMatch(/NOT_SET|EMPTY|SERVICE|toString|constructor|GPU_KEY|127\.0\.0\.1|url-secret|words/);
    }
  });
});

const INTERNALS: readonly [string, string, RegExp][] = [
  ["the credential", refusal(`The key ${SECRET} is over its limit`), /gpu-credential/],
  ["a secret of a header", refusal(`x-access: ${ACCESS} was not accepted`), /access-header-secret/],
  ["the gateway's bearer header", refusal(`Got header Authorization: Bearer ${SECRET}`), /gpu-credential/],
  ["the credential as a code", refusal("no", SECRET), /gpu-credential/],
  ["the credential as a param", refusal("no", null, SECRET), /gpu-credential/],
  ["the upstream's own address", refusal("connect ECONNREFUSED 127.0.0.1:8000"), /127\.0\.0\.1|8000/],
  ["a private address", refusal("upstream 10.1.2.3:8000 failed"), /10\.1\.2\.3/],
  ["an IPv6 address", refusal("dial tcp [fd00::12]:8000: refused"), /fd00/],
  ["a name inside a cluster", refusal("vllm-0.vllm.prod.svc.cluster.local: no such host"), /vllm-0|cluster/],
  ["a short host with a port", refusal("Connection to gpu-node-7:8000 refused"), /gpu-node-7/],
  ["a URL with credentials", refusal("GET https://user:pw@api.example.com/x failed"), /pw@|user:/],
  [
    "a traceback",
    refusal('boom\nTraceback (most recent call last):\n  File "/opt/vllm/engine.py", line 12, in step\n    raise X'),
    /Traceback|engine\.py|line 12/,
  ],
  [
    "a Node stack",
    refusal("boom\n    at Engine.step (/srv/app/engine.js:12:3)\n    at run (/srv/app/x.js:1:1)"),
    /engine\.js|srv/,
  ],
  ["a path", refusal("weights not found in /mnt/models/llama-70b/config.json"), /mnt\/models/],
  ["all served names", refusal("The model `x` is bad. Valid aliases: internal-a, internal-b"), /internal-a/],
  ["HTML of a proxy", "<html><title>502</title><body>nginx/1.25 at gpu-internal</body></html>", /nginx|gpu-internal/],
  ["a token", refusal("token: hf_abcdefghijklmnopqrstuvwxyz123456 is expired"), /hf_abcdefgh/],
];

describe.concurrent("what an upstream lets slip", () => {
  test.each(INTERNALS)("%s, in an error status", async (_what, body, hidden) => {
    for (const status of [400, 500]) {
      for (const stream of [false, true]) {
        const model = rig.model("m/");
        rig.upstream.answer(model, always(response(status, body)));
        const answer = await ask(model, stream);
        expect(answer.status).toBe(status);
        expect(await answer.text()).not.toMatch(hidden);
      }
    }
  });

  test.each(INTERNALS.filter(([, body]) => body.startsWith("{")))("%s, in an event", async (_what, body, hidden) => {
    for (const start of [role, role + says("begun")]) {
      for (const stream of [false, true]) {
        const model = rig.model("m/");
        rig.upstream.answer(model, always(streamHead() + inChunk(start + event(body)) + lastChunk));
        expect(await (await ask(model, stream)).text()).not.toMatch(hidden);
      }
    }
  });

  test("response headers", async () => {
    const headers = `Set-Cookie: a=b\r\nServer: vllm-internal\r\nX-Powered-By: x\r\nVia: 1.1 gpu-7\r\nX-Request-Id: theirs\r\nLocation: http://10.0.0.1/\r\nOpenAI-Organization: org-secret\r\nX-RateLimit-Remaining-Requests: 5\r\n`;
    for (const bytes of [
      response(200, completion("x"), headers),
      streamOf("x").replace("Content-Type", `${headers}Content-Type`),
      response(400, refusal("no"), headers),
    ]) {
      for (const stream of [false, true]) {
        const model = rig.model("m/");
        rig.upstream.answer(model, always(bytes));
        const answer = await ask(model, stream);
        await answer.text();
        const names = [...answer.headers.keys()];
        for (const name of ["set-cookie", "server", "x-powered-by", "via", "location", "openai-organization"])
          expect(names).not.toContain(name);
        expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
        expect(answer.headers.get("x-ratelimit-remaining-requests")).toBe("5");
      }
    }
  });

  test.each<[string, string]>([
    ["a status of 401", response(401, refusal("Incorrect API key provided", "invalid_api_key"))],
    ["a status of 403", response(403, refusal("Country not supported", "unsupported_country"))],
    ["a 400 about the key", response(400, refusal("Incorrect API key provided", "invalid_api_key"))],
    ["a 500 about the key", response(500, refusal("Incorrect API key provided", "invalid_api_key"))],
    [
      "an event that names 401",
      streamHead() + inChunk(event({ error: { message: "bad key", code: 401 } })) + lastChunk,
    ],
    [
      "an event about the key",
      streamHead() + inChunk(event(refusal("Incorrect API key provided", "invalid_api_key"))) + lastChunk,
    ],
  ])("%s is never the client's own 401", async (_what, bytes) => {
    for (const stream of [false, true]) {
      const model = rig.model("m/");
      rig.upstream.answer(model, always(bytes));
      const error = await errorOf(await ask(model, stream));
      expect(error).toMatchObject({ status: 502, code: "upstream_unauthorized" });
    }
  });

  test("an unknown model that the operator named is the operator's fault", async () => {
    rig.upstream.answer(
      "internal-name-of-the-model",
      always(
        response(
          404,
          refusal("The model `internal-name-of-the-model` does not exist. Valid aliases: a, b", "model_not_found"),
        ),
      ),
    );
    const answer = await ask("renamed");
    const text = await answer.clone().text();
    expect(await errorOf(answer)).toMatchObject({ status: 502, code: "upstream_model_not_found" });
    expect(text).not.toMatch(/internal-name|aliases/);
  });
});

describe("the log", () => {
  const wordy: Script = always(
    response(
      400,
      JSON.stringify({
        error: { message: `bad prompt: ${PROMPT}`, type: `type ${PROMPT}`, param: PROMPT, code: `code: ${PROMPT}` },
      }),
    ),
  );
  const inEvent: Script = always(
    streamHead() +
      inChunk(role + says(ANSWER) + event({ error: { message: PROMPT, code: `code ${ANSWER}`, type: ANSWER } })) +
      lastChunk,
  );
  const cut: Script = async ({ put, wait, socket }) => (
    await put(streamHead() + inChunk(role + says(ANSWER))),
    await wait(30),
    void socket.resetAndDestroy()
  );
  const fine: Script = ({ asked, put }) =>
    put(asked.body.includes('"stream":true') ? streamOf(ANSWER) : response(200, completion(ANSWER)));
  const late: Script = async ({ put, wait }) => (await wait(300), put(response(500, refusal(PROMPT, `x ${PROMPT}`))));

  test("has no prompt, answer, key, header, secret or address in it, whatever goes wrong", async () => {
    for (const script of [wordy, inEvent, cut, fine, late]) {
      for (const prefix of ["m/", "alive/"]) {
        for (const stream of [false, true]) {
          const model = rig.model(prefix);
          rig.upstream.answer(model, script);
          await (
            await ask(model, stream, "acme", {
              user: `user ${PROMPT}`,
              tools: [{ type: "function", function: { name: "Ottilie_tool" } }],
            })
          ).text();
        }
      }
    }
    for (const model of ["nowhere", "unset", "unbound", `unknown ${PROMPT}`]) await (await ask(model)).text();
    await (
      await rig.ask({}, { body: `{"broken": "${PROMPT}"`, headers: { authorization: `Bearer ${KEYS.acme}` } })
    ).text();
    await (await rig.ask({ messages }, { headers: { authorization: `Bearer wrong-key-words` } })).text();
    await (await fetch(`${rig.gateway.url}/v1/${encodeURIComponent(PROMPT)}?key=${KEYS.acme}`)).text();
    const logs = rig.gateway.logs();
    expect(logs).toContain("request_failed");
    expect(logs).not.toMatch(/Ottilie|disease/);
    expect(logs).not.toMatch(/sk-(?:acme|beta)|wrong-key|words|127\.0\.0\.1/);
    expect(logs).not.toMatch(/sha256|[0-9a-f]{64}/);
  });

  test("does not name the tenant", async () => {
    expect(rig.gateway.logs()).not.toMatch(/acme/);
  });

  test("has a line of JSON for every failure, with the id that the client was given", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(model, always(response(500, refusal("boom"))));
    const answer = await ask(model);
    const id = answer.headers.get("x-request-id") ?? "none";
    await answer.text();
    const line =
      rig.gateway
        .logs()
        .split("\n")
        .find((one) => one.includes(id)) ?? "";
    expect(JSON.parse(line.slice(line.indexOf("{")))).toMatchObject({
      request_id: id,
      upstream: "gpu",
      upstream_status: 500,
    });
  });
});

describe("what one tenant teaches", () => {
  test("is used for that tenant and for no other", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(model, ({ asked, put }) =>
      put(
        asked.body.includes('"stream":true')
          ? response(400, refusal("streaming not supported"))
          : response(200, completion("fine")),
      ),
    );
    const asks = async (tenant: keyof typeof KEYS, more: object = {}): Promise<number> => {
      const before = rig.upstream.asked(model).length;
      expect(readEvents(await (await ask(model, true, tenant, more)).text())).toMatchObject({
        text: "fine",
        done: true,
      });
      return rig.upstream.asked(model).length - before;
    };
    expect(await asks("acme")).toBe(2);
    expect(await asks("acme")).toBe(1);
    expect(await asks("beta")).toBe(2);
    expect(await asks("acme")).toBe(1);
    const tools = { tools: [{ type: "function", function: { name: "f", parameters: {} } }] };
    for (const combination of [tools, { n: 2 }, { logprobs: true }, { response_format: { type: "json_object" } }]) {
      expect(await asks("acme", combination)).toBe(2);
      expect(await asks("acme", combination)).toBe(1);
    }
    expect(await asks("beta")).toBe(1);
  });

  test("answers of two tenants at once are not mixed up", async () => {
    const model = rig.model("m/");
    rig.upstream.answer(model, async ({ asked, put, wait }) => {
      const [who = ""] = /acme-\d+|beta-\d+/.exec(asked.body) ?? [];
      await put(streamHead() + inChunk(role));
      for (let i = 0; i < 5; i++) {
        await put(inChunk(says(`${who} `)));
        await wait(5);
      }
      await put(
        inChunk(
          event({
            id: "chatcmpl-1",
            object: "chat.completion.chunk",
            created: 1,
            model: "m",
            choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
          }) + event("[DONE]"),
        ) + lastChunk,
      );
    });
    const all = Array.from({ length: 20 }, async (_, i) => {
      const tenant = i % 2 === 0 ? "acme" : "beta";
      const answer = await ask(model, i % 3 !== 0, tenant, { user: `${tenant}-${i}` });
      const text = await answer.text();
      expect([...new Set(text.match(/(?:acme|beta)-\d+/g))]).toEqual([`${tenant}-${i}`]);
    });
    await Promise.all(all);
  });
});
