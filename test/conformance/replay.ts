// Replays the cases through a gateway, by hand or for `npm run test:splits`:
//   node test/conformance/replay.ts [--only 38,63b,r12] [--splits] [--jobs 12] [--verbose]
//   node test/conformance/replay.ts --base http://127.0.0.1:8787/v1 --key sk-... --upstream-port 9400
// Prints a JSON line per failing check; fails if a case fails that is not expected to, or passes although it is.
import { parseArgs } from "node:util";
import { startGateway } from "../local/gateway.ts";
import { isChosen, loadCases } from "./cases.ts";
import { expectedFailure } from "./expected-failures.ts";
import { CLIENT_KEY, gatewayConfig } from "./gateway-config.ts";
import { startMock } from "./mock.ts";
import { jobsOf, runJobs } from "./runner.ts";

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const { values } = parseArgs({
  options: { only: text, splits: flag, jobs: text, verbose: flag, base: text, key: text, "upstream-port": text },
});
const only = values.only?.split(",");
const cases = loadCases().filter((one) => !only || isChosen(one.id, only));
const mock = await startMock(Number(values["upstream-port"] ?? 0));
const config = gatewayConfig(cases, mock.port);
const gateway = values.base === undefined ? await startGateway({ config, relay: true }) : undefined;
const target = { base: values.base ?? `${gateway?.url}/v1`, key: values.key ?? CLIENT_KEY, mock };

const count = { passed: 0, failed: 0, "failed as expected": 0 };
// Of the cuts of one case only the first three failing ones are printed.
const failures = new Map<string, number>();
const jobs = jobsOf(cases, values.splits ?? false);
await runJobs(
  values.splits ? jobs.filter((job) => expectedFailure(job.case.id, job.mode) === undefined) : jobs,
  target,
  (job, faults) => {
    const { id, title, judgement } = job.case;
    const reason = expectedFailure(id, job.mode);
    const about = { case: id, mode: job.mode, cut: job.cut };
    if (!faults.length && reason !== undefined) {
      count.failed++;
      console.log(JSON.stringify({ ...about, message: `passes, but is expected to fail: ${reason}` }));
      return;
    }
    count[!faults.length ? "passed" : reason === undefined ? "failed" : "failed as expected"]++;
    if (values.verbose && !faults.length) console.log(JSON.stringify({ ...about, passed: true }));
    if (!faults.length || (reason !== undefined && !values.verbose)) return;
    const before = failures.get(`${id} ${job.mode}`) ?? 0;
    failures.set(`${id} ${job.mode}`, before + 1);
    if (before >= 3) return;
    for (const fault of faults) console.log(JSON.stringify({ ...about, ...fault, judgement, title }));
  },
  Number(values.jobs ?? 12),
);
await gateway?.stop();
await mock.stop();
console.log(
  Object.entries(count)
    .map(([name, n]) => `${n} ${name}`)
    .join(", "),
);
process.exit(count.failed ? 1 : 0);
