import { expect, it } from "vitest";
import { createChatStream } from "../../../src/protocol/chat/stream.ts";

const event = (choice: string): string =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${choice}]}\n\n`;
const delta = (members: string, finish = "null"): string =>
  event(`{"index":0,"delta":{${members}},"logprobs":null,"finish_reason":${finish}}`);

it.each([
  ["that fits behind it", ""],
  ["that was longer upstream", ": a comment that does not leave\n\n"],
])("a large event leaves with the bytes it came with, and what follows in its read, %s", (_name, between) => {
  const text = "x".repeat(300_000);
  const before = delta('"role":"assistant","content":""') + delta(`"content":"${text}"`);
  const after = `${delta("", '"stop"')}data: [DONE]\n\n`;
  const shape = { n: 1, toolNames: [], namedTool: false, includeUsage: false };
  const identity = { created: 1, model: "m", newId: (prefix: string): string => prefix };
  for (const cut of [10, 1000, 250_000, before.length]) {
    const stream = createChatStream({ shape, identity });
    const sent = new TextEncoder().encode(before + between + after);
    let out = "";
    for (const part of [sent.slice(0, cut), sent.slice(cut)]) out += new TextDecoder().decode(stream.feed(part));
    expect(out).toBe(before + after);
  }
});
