import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/kit/long-first.js";

const conditions = ["candor-source", "node", "module", "import", "default"];
/** Workspace packages resolve to their sources. */
const source = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/**
 * Unit tests read the sources; whatever spawns a process runs the built output, so `pnpm verify` builds first.
 * A worker keeps its modules from file to file (`isolate`): to load them anew takes longer than most files run.
 */
export default defineConfig({
  test: {
    reporters: ["default", "./test/kit/closing-line.ts"],
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        ...source,
        test: {
          name: "unit",
          isolate: false,
          testTimeout: 60_000,
          include: ["packages/*/src/**/*.spec.ts", "services/*/src/**/*.spec.ts"],
        },
      },
      { ...source, test: { name: "conformance", isolate: false, include: ["test/conformance/**/*.test.ts"] } },
      {
        ...source,
        test: {
          name: "integration",
          isolate: false,
          include: ["test/integration/**/*.test.ts", "test/faults/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
