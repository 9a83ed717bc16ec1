import type { Reporter, TestModule } from "vitest/node";

/** Says last, in one line, what passed. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      counts.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === "pending" ? "failed" : state] += 1;
      }
    }
    process.on("exit", () => {
      console.log(`real vLLM: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    });
  }
}
