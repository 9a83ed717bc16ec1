import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type Gateway } from "../local/gateway.ts";
import { loadCases } from "./cases.ts";
import { expectedFailure, expectedFailureIds } from "./expected-failures.ts";
import type { Fault } from "./expectations.ts";
import { CLIENT_KEY, gatewayConfig } from "./gateway-config.ts";
import { startMock, type Mock } from "./mock.ts";
import { jobsOf, runJobs } from "./runner.ts";

const cases = loadCases();
const jobs = jobsOf(cases, false);
const results = new Map<(typeof jobs)[number], readonly Fault[]>();
let mock: Mock;
let gateway: Gateway;

// All cases run side by side in one go: most of their time is waiting.
beforeAll(async () => {
  mock = await startMock();
  gateway = await startGateway({ config: gatewayConfig(cases, mock.port), relay: true });
  await runJobs(jobs, { base: `${gateway.url}/v1`, key: CLIENT_KEY, mock }, (job, faults) => results.set(job, faults));
}, 300_000);

afterAll(async () => {
  await gateway.stop();
  await mock.stop();
});

for (const job of jobs) {
  const reason = expectedFailure(job.case.id, job.mode);
  const name = `case ${job.case.id}, ${job.mode}: ${job.case.title}`;
  if (reason === undefined) {
    test(name, () => expect(results.get(job)).toEqual([]));
  } else {
    test(`${name} (expected to fail: ${reason})`, () => {
      expect(results.get(job), "passes now: take it out of expected-failures.ts").not.toEqual([]);
    });
  }
}

test("every expected failure names a case", () => {
  const ids = cases.map((one) => one.id);
  expect(expectedFailureIds.filter((id) => !ids.includes(id))).toEqual([]);
});
