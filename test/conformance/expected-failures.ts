// Cases whose right result needs something that is not built yet. A case listed here that passes is a failure of the
// tests: its line has to go.
import type { Mode } from "./cases.ts";

interface ExpectedFailure {
  readonly reason: string;
  /** All modes of the case if left out. */
  readonly modes?: readonly Mode[];
}

const EXPECTED_FAILURES: Readonly<Record<string, ExpectedFailure>> = {};

export function expectedFailure(id: string, mode: Mode): string | undefined {
  const entry = EXPECTED_FAILURES[id];
  return !entry || (entry.modes && !entry.modes.includes(mode)) ? undefined : entry.reason;
}

export const expectedFailureIds: readonly string[] = Object.keys(EXPECTED_FAILURES);
