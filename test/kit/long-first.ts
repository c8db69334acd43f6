import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes longest begins first, so that no worker is left with it at the end while the other has nothing to do. A fresh
 * clone has no figures of an earlier run to go by.
 */
const longest = [
  "test/faults/chaos.test.ts",
  "test/integration/demo.test.ts",
  "test/integration/cli-audit.test.ts",
  "test/integration/guard-process.test.ts",
  "test/integration/subagent-process.test.ts",
  "test/integration/lane-reader.test.ts",
  "test/integration/guard-tamper.test.ts",
  "test/integration/readme.test.ts",
  "test/integration/cli-up.test.ts",
  "test/integration/orchestrator-memory.test.ts",
  "test/integration/verdict-writer-chaos.test.ts",
  "test/integration/subagent-loss.test.ts",
];
const projects = ["integration", "conformance", "unit"];

/** Sorts test files by project, then the known longest first, then by name. Project by project, so that workers are kept. */
export class LongFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId, project }: TestSpecification): readonly [number, number, string] => {
      const path = relative(root, moduleId);
      const place = longest.indexOf(path);
      return [projects.indexOf(project.name), place === -1 ? longest.length : place, path];
    };
    const ranked = files.map((file) => ({ file, rank: rank(file) }));
    ranked.sort(
      (a, b) =>
        a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || (a.rank[2] < b.rank[2] ? -1 : Number(a.rank[2] > b.rank[2])),
    );
    return Promise.resolve(ranked.map(({ file }) => file));
  }
}
