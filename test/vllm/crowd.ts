import { setTimeout as sleep } from "node:timers/promises";
import { rig } from "./client.ts";
import { metric } from "./rig.ts";
import { endless } from "./say.ts";

const limitMs = 60_000;

/** Waits until `look` gives true; throws when that never comes. */
export async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`waited ${limitMs / 1000} s in vain: ${what}`);
    await sleep(20);
  }
}

/** Waits for one of vLLM's gauges. @param asked what makes it so: should it end before, there is nothing to wait for any more */
async function untilGauge(serverUrl: string, name: string, count: number, asked?: Promise<unknown>): Promise<void> {
  let ended: { readonly reason: unknown } | undefined;
  asked?.then(
    () => (ended = { reason: "whole" }),
    (reason: unknown) => (ended = { reason }),
  );
  let seen = Number.NaN;
  await until(`${name} is ${count}`, async () => {
    seen = await metric(serverUrl, name);
    if (seen !== count && ended !== undefined)
      throw new Error(`${name} is ${seen}, not ${count}, and the request has ended: ${String(ended.reason)}`);
    return seen === count;
  });
}

export const untilRunning = (serverUrl: string, count: number, asked?: Promise<unknown>): Promise<void> =>
  untilGauge(serverUrl, "num_requests_running", count, asked);

export const untilWaiting = (serverUrl: string, count: number, asked?: Promise<unknown>): Promise<void> =>
  untilGauge(serverUrl, "num_requests_waiting", count, asked);

export async function untilIdle(serverUrl: string): Promise<void> {
  await untilRunning(serverUrl, 0);
  await untilWaiting(serverUrl, 0);
}

/** Answers that vLLM wrote to their end since it started. */
export async function finished(serverUrl: string): Promise<number> {
  return metric(serverUrl, "request_success_total");
}

export interface Busy {
  /** Leaves. */
  end(): Promise<void>;
}

/**
 * Takes all places of the plain server with long answers, asked of the server itself so that only what a test does goes
 * through the gateway. They are asked again as they end, so that the server is busy for as long as the test wants.
 */
export async function occupyPlain(places = 2): Promise<Busy> {
  const leave = new AbortController();
  const body = JSON.stringify({ model: "tiny", messages: [{ role: "user", content: "hi" }], ...endless });
  const occupy = async (): Promise<void> => {
    while (!leave.signal.aborted) {
      try {
        await (
          await fetch(`${rig.plainUrl}/v1/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body,
            signal: leave.signal,
          })
        ).text();
      } catch (error) {
        if (!leave.signal.aborted) throw error;
      }
    }
  };
  const all = Array.from({ length: places }, occupy);
  await untilRunning(rig.plainUrl, places);
  return {
    async end() {
      leave.abort();
      await Promise.all(all);
    },
  };
}
