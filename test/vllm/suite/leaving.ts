import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type OpenAI from "openai";
import { afterEach, describe, expect, test } from "vitest";
import { bodyFor, modes, type Mode } from "../ask.ts";
import { bearer, chatUrl, newClient, rig, viaGateway } from "../client.ts";
import { finished, occupyPlain, untilIdle, untilRunning, untilWaiting } from "../crowd.ts";
import { endless } from "../say.ts";

afterEach(async () => {
  await untilIdle(rig.parsersUrl);
  await untilIdle(rig.plainUrl);
});

/** Runs what leaves in the middle, and holds vLLM's own count against it: nothing was written to its end. */
async function expectGivenUp(serverUrl: string, leave: () => Promise<void>): Promise<void> {
  const before = await finished(serverUrl);
  await leave();
  await untilIdle(serverUrl);
  expect(await finished(serverUrl)).toBe(before);
}

/** Asks for a long answer and reads on until it ends or the signal does. */
async function readUntil(signal: AbortSignal, client: OpenAI, model: string, mode: Mode): Promise<void> {
  try {
    if (mode === "whole") await client.chat.completions.create(bodyFor(model, endless), { signal });
    else
      for await (const _ of await client.chat.completions.create(
        { ...bodyFor(model, endless), stream: true },
        { signal },
      ));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function modelsOf(server: "parsers" | "plain"): string[] {
  if (!viaGateway) return ["tiny"];
  return server === "plain" ? ["plain"] : ["tiny", "tiny-reframed", "tiny-aggregated"];
}

/** A request on a socket of our own, since the client library cannot choose how it leaves. */
async function sendRaw(model: string, mode: Mode): Promise<Socket> {
  const url = chatUrl("parsers");
  const body = JSON.stringify({ ...bodyFor(model, endless), stream: mode === "streamed" });
  const socket = connect(Number(url.port), url.hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const head = [
    `POST ${url.pathname} HTTP/1.1`,
    `host: ${url.host}`,
    `authorization: ${bearer}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

describe.each(modelsOf("parsers"))("a client that leaves: %s", (model) => {
  test.each(modes)("by abort, %s", async (mode) => {
    await expectGivenUp(rig.parsersUrl, async () => {
      const leave = new AbortController();
      const reading = readUntil(leave.signal, newClient(), model, mode);
      await untilRunning(rig.parsersUrl, 1, reading);
      leave.abort();
      await reading;
    });
  });

  test.each(
    modes.flatMap((mode) => [
      { mode, way: "reset" },
      { mode, way: "close" },
    ]),
  )("by $way of the connection, $mode", async ({ mode, way }) => {
    await expectGivenUp(rig.parsersUrl, async () => {
      const socket = await sendRaw(model, mode);
      await untilRunning(rig.parsersUrl, 1);
      if (way === "reset") socket.resetAndDestroy();
      else socket.destroy();
    });
  });
});

test("a loop over the chunks that breaks off", async () => {
  await expectGivenUp(rig.parsersUrl, async () => {
    const stream = await newClient().chat.completions.create({ ...bodyFor("tiny", endless), stream: true });
    let seen = 0;
    for await (const { choices } of stream) {
      if (choices[0]?.delta.content && ++seen === 3) break;
    }
    expect(seen).toBe(3);
  });
});

test("two choices are given up together", async () => {
  const before = await finished(rig.parsersUrl);
  const leave = new AbortController();
  const asked = newClient().chat.completions.create(bodyFor("tiny", { ...endless, n: 2 }), { signal: leave.signal });
  await untilRunning(rig.parsersUrl, 2, asked);
  leave.abort();
  await expect(asked).rejects.toThrow();
  await untilIdle(rig.parsersUrl);
  expect(await finished(rig.parsersUrl)).toBe(before);
});

test.each(modes)("a client that leaves the queue: %s", async (mode) => {
  const busy = await occupyPlain();
  try {
    const leave = new AbortController();
    const [model = ""] = modelsOf("plain");
    const reading = readUntil(leave.signal, newClient("plain"), model, mode);
    await untilWaiting(rig.plainUrl, 1, reading);
    leave.abort();
    await reading;
    await untilWaiting(rig.plainUrl, 0);
  } finally {
    await busy.end();
  }
});
