import type { Reporter, TestModule } from "vitest/node";

/** Prints every skipped test with its reason, then the plain closing line `N passed, M failed` that CI reads. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      // A module that fails to load has no tests to count, yet it is a failure.
      if (module.state() === "failed" && [...module.children.allTests()].length === 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "pending") continue;
        count[result.state] += 1;
        if (result.state === "skipped") {
          const note = "note" in result && result.note !== undefined ? result.note : "no reason given";
          process.stdout.write(`skipped: ${test.fullName} (${note})\n`);
        }
      }
    }
    const skipped = count.skipped > 0 ? `, ${String(count.skipped)} skipped` : "";
    process.stdout.write(`\n${String(count.passed)} passed, ${String(count.failed)} failed${skipped}\n`);
  }
}
