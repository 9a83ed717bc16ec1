import { describe, expect, test } from "vitest";
import { ask, bodyFor, gist, ways } from "../ask.ts";
import { askRaw, lastText, newClient, rig, viaGateway } from "../client.ts";
import { serverKey } from "../config.ts";
import { letters, noThinking, say, token } from "../say.ts";

const unicode = "Grüße 👋🏽 — 日本語 👩‍👩‍👧 \u2028 é";

describe.each(ways)("text: $model, $mode", (way) => {
  test("exact words", async () => {
    const answer = await ask(way, say("Hello, world."));
    expect(gist(answer)).toEqual([{ content: "Hello, world.", reasoning: "", calls: [], finish: "stop" }]);
    expect(answer.completion.choices[0]?.message.role).toBe("assistant");
    expect(answer.completion.id).toMatch(/^chatcmpl-/);
    expect(answer.completion.model).toBe("tiny");
    expect(answer.completion.usage).toMatchObject({ prompt_tokens: expect.any(Number), completion_tokens: 14 });
  });

  test("characters that the tokens cut", async () => {
    const [choice] = gist(await ask(way, say(unicode)));
    expect(choice?.content).toBe(unicode);
  });

  test("an answer cut by max_tokens", async () => {
    const [choice] = gist(await ask(way, letters(12)));
    expect(choice).toMatchObject({ content: expect.stringMatching(/^[a-z]{12}$/), finish: "length" });
  });

  test("an empty answer", async () => {
    expect(gist(await ask(way, { logit_bias: { [token.end]: 100 }, ...noThinking }))).toEqual([
      { content: "", reasoning: "", calls: [], finish: "stop" },
    ]);
  });

  test("a stop word, and which one it was", async () => {
    const answer = await ask(way, { ...say("one two three"), stop: ["two"] });
    expect(gist(answer)).toMatchObject([{ content: "one ", finish: "stop" }]);
    expect(answer.completion.choices[0]).toMatchObject({ stop_reason: "two" });
  });

  test("a stop token, named by its number", async () => {
    const answer = await ask(way, {
      allowed_token_ids: [64, token.blank],
      stop_token_ids: [token.blank],
      max_tokens: 400,
      ...noThinking,
    });
    expect(gist(answer)).toMatchObject([{ content: expect.stringMatching(/^a* ?$/), finish: "stop" }]);
    expect(answer.completion.choices[0]).toMatchObject({ stop_reason: token.blank });
  });

  test("two choices", async () => {
    const answer = await ask(way, { ...letters(5), n: 2, seed: 7 });
    expect(answer.completion.choices.map(({ index }) => index)).toEqual([0, 1]);
    for (const choice of gist(answer))
      expect(choice).toMatchObject({ content: expect.stringMatching(/^[a-z]{5}$/), finish: "length" });
    expect(answer.completion.usage?.completion_tokens).toBe(10);
  });

  test("logprobs with alternatives", async () => {
    const { completion } = await ask(way, { ...say("Hi é"), logprobs: true, top_logprobs: 2 });
    const content = completion.choices[0]?.logprobs?.content ?? [];
    expect(Buffer.from(content.flatMap(({ bytes }) => bytes ?? [])).toString()).toContain("Hi é");
    for (const entry of content) {
      expect(entry).toMatchObject({ token: expect.any(String), logprob: expect.any(Number) });
      expect(entry.top_logprobs.length).toBeGreaterThanOrEqual(2);
    }
  });

  test("logprobs of two choices", async () => {
    const { completion } = await ask(way, { ...letters(3), n: 2, seed: 3, logprobs: true, top_logprobs: 1 });
    expect(completion.choices.map(({ logprobs }) => logprobs?.content?.length)).toEqual([3, 3]);
  });

  test("token ids, a field that OpenAI does not have", async () => {
    const { completion, chunks } = await ask(way, { ...say("Hi"), return_token_ids: true });
    const whole = (completion.choices[0] as { token_ids?: number[] | null }).token_ids;
    const streamed = chunks.flatMap(({ choices }) =>
      choices.flatMap((choice) => (choice as { token_ids?: number[] | null }).token_ids ?? []),
    );
    // One answer that was re-framed has the list in one piece.
    expect(chunks.length > 0 ? streamed : whole).toEqual([39, 72, token.end]);
  });

  test("a history of several roles and text parts", async () => {
    const messages = [
      { role: "developer" as const, content: "be short" },
      {
        role: "user" as const,
        content: [
          { type: "text" as const, text: "hi" },
          { type: "text" as const, text: "there" },
        ],
      },
      { role: "assistant" as const, content: "Hello" },
      { role: "user" as const, content: "again" },
    ];
    expect(gist(await ask(way, { ...say("Hi"), messages }))).toMatchObject([{ content: "Hi" }]);
  });

  test("fields that vLLM does not know are no fault", async () => {
    const body = { ...say("Hi"), store: false, metadata: { a: "b" }, verbosity: "low" as const, user: "u" };
    expect(gist(await ask(way, body))).toMatchObject([{ content: "Hi", finish: "stop" }]);
  });
});

test("greedy: every way of asking brings the same answer", async () => {
  const answers = [];
  for (const way of ways) {
    const answer = await ask(way, { ...letters(60), temperature: 0 });
    const { prompt_tokens, completion_tokens, total_tokens } = answer.completion.usage ?? {};
    answers.push({ gist: gist(answer), prompt_tokens, completion_tokens, total_tokens });
  }
  expect(answers[0]?.gist[0]?.content).toHaveLength(60);
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test("greedy: no usage on the wire unless asked", async () => {
  const stream = await newClient().chat.completions.create({ ...bodyFor("tiny", say("Hello")), stream: true });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(chunks.filter(({ usage }) => usage !== undefined && usage !== null)).toEqual([]);
});

test("usage on every chunk, if that was asked of vLLM, leaves as one last count", async () => {
  const stream_options = { include_usage: true, continuous_usage_stats: true };
  const stream = await newClient().chat.completions.create({
    ...bodyFor("tiny", say("Hello")),
    stream: true,
    stream_options,
  });
  let last;
  for await (const chunk of stream) last = chunk;
  expect(last).toMatchObject({ choices: [], usage: { completion_tokens: 6 } });
});

test.runIf(viaGateway)("text leaves as vLLM wrote it, byte for byte", async () => {
  const body = { ...bodyFor("tiny", say(unicode)), stream: true, stream_options: { include_usage: true } };
  await askRaw("parsers", body);
  const ours = await lastText();
  const headers = { "content-type": "application/json", authorization: `Bearer ${serverKey}` };
  const theirs = await (
    await fetch(`${rig.parsersUrl}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) })
  ).text();
  // Under load vLLM puts several tokens into one chunk: how many is chance, how a chunk is spelled is not.
  const timeless = (text: string): string[] => {
    const chunks = text
      .replaceAll(/"id":"chatcmpl-[^"]*"/g, '"id":""')
      .replaceAll(/"created":\d+/g, '"created":0')
      .replaceAll(/"content":"[^"]+"/g, '"content":"text"')
      .split("\n\n");
    return chunks.filter((chunk, i) => chunk !== chunks[i - 1]);
  };
  expect(timeless(ours)).toEqual(timeless(theirs));
  expect(timeless(ours).length).toBe(6);
});

test.runIf(viaGateway)("the id of the answer is the upstream's, and not made of what the client sent", async () => {
  const answer = await newClient()
    .chat.completions.create(bodyFor("tiny", say("Hi")), { headers: { "x-request-id": "mine-1" } })
    .withResponse();
  expect(answer.data.id).not.toContain("mine-1");
  expect(answer.response.headers.get("x-request-id")).toBe("mine-1");
  expect(answer.response.headers.get("server")).not.toBe("uvicorn");
});

test("an idle connection that vLLM has closed meanwhile (after 5 s) costs no request", async () => {
  for (let round = 0; round < 2; round++) {
    expect(gist(await ask({ model: "tiny", mode: "whole" }, say("Hi")))).toMatchObject([{ content: "Hi" }]);
    await new Promise((settle) => setTimeout(settle, 5_100));
  }
  expect(gist(await ask({ model: "tiny", mode: "streamed" }, say("Hi")))).toMatchObject([{ content: "Hi" }]);
}, 60_000);
