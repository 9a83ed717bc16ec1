import { AzureOpenAI } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { envelopeOf, KEY, sendJson, startRig, type Rig } from "./rig.ts";

let rig: Rig;
let azure: AzureOpenAI;
beforeAll(async () => {
  rig = await startRig();
  azure = new AzureOpenAI({ endpoint: rig.gateway.url, apiKey: KEY, apiVersion: "2025-01-01-preview", maxRetries: 0 });
});
afterAll(() => rig.stop());

const HEAD = { id: "c", created: 5, model: "m" };

test("Azure's client asks for chats, texts and embeddings by the deployment in the path", async () => {
  rig.answer(({ path }, response) => {
    if (path === "/v1/chat/completions") {
      const choice = {
        index: 0,
        message: { role: "assistant", content: "hi", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      };
      sendJson(response, { ...HEAD, object: "chat.completion", choices: [choice] });
    } else if (path === "/v1/completions") {
      sendJson(response, {
        ...HEAD,
        object: "text_completion",
        choices: [{ index: 0, text: "hi", logprobs: null, finish_reason: "stop" }],
      });
    } else
      sendJson(response, {
        object: "list",
        model: "m",
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
  });
  const chat = await azure.chat.completions.create({
    model: "org/name 1",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(chat.choices[0]?.message.content).toBe("hi");
  const text = await azure.completions.create({ model: "renamed", prompt: "hi" });
  expect(text.choices[0]?.text).toBe("hi");
  const vectors = await azure.embeddings.create({ model: "m", input: "hi" });
  expect([...(vectors.data[0]?.embedding ?? [])]).toEqual([0.5]);
  expect(rig.seen.map(({ path, json }) => [path, json["model"]])).toEqual([
    ["/v1/chat/completions", "org/name 1"],
    ["/v1/completions", "there"],
    ["/v1/embeddings", "m"],
  ]);
  expect(rig.seen.every(({ headers }) => headers["api-key"] === undefined)).toBe(true);
});

test("and for pictures and sound", async () => {
  rig.answer(({ path }, response) => {
    if (path === "/v1/audio/speech") response.writeHead(200, { "content-type": "audio/wav" }).end("abc");
    else if (path === "/v1/audio/transcriptions") sendJson(response, { text: "hi" });
    else sendJson(response, { created: 1, data: [{ b64_json: "AAAA" }] });
  });
  const images = await azure.images.generate({ model: "renamed", prompt: "a" });
  expect(images.data).toEqual([{ b64_json: "AAAA" }]);
  const speech = await azure.audio.speech.create({ model: "m", voice: "v", input: "hi" });
  expect(await speech.text()).toBe("abc");
  const file = new File(["sound"], "a.wav");
  expect((await azure.audio.transcriptions.create({ model: "m", file })).text).toBe("hi");
  expect(rig.seen.map(({ path }) => path)).toEqual([
    "/v1/images/generations",
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
  ]);
  expect(rig.seen[0]?.json["model"]).toBe("there");
});

test("the model of the path counts, and may stand there alone", async () => {
  rig.answer((_seen, response) =>
    sendJson(response, { object: "list", model: "m", data: [{ object: "embedding", index: 0, embedding: [0.5] }] }),
  );
  for (const body of ['{"input":"a"}', '{"model":"other","input":"a"}']) {
    expect((await rig.post("/openai/deployments/mine/embeddings?api-version=1", body)).status).toBe(200);
    expect(rig.seen.at(-1)?.json).toEqual({ model: "mine", input: "a" });
  }
  expect(await envelopeOf(await rig.post("/openai/deployments/mine/embeddings", "{"))).toMatchObject({
    status: 400,
    code: "invalid_json",
  });
  expect((await rig.post("/openai/deployments/mine/extensions/chat/completions", {})).status).toBe(404);
  expect((await fetch(`${rig.gateway.url}/openai/deployments/mine/embeddings`)).status).toBe(405);
});
