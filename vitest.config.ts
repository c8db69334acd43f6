import { defineConfig } from "vitest/config";

const conditions = ["candor-source", "node", "module", "import", "default"];
const source = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/** Unit tests read the sources; whatever spawns a process runs the built output, so `pnpm verify` builds first. */
export default defineConfig({
  test: {
    reporters: ["default", "./test/kit/closing-line.ts"],
    maxWorkers: 2,
    projects: [
      {
        ...source,
        test: {
          name: "unit",
          testTimeout: 60_000,
          include: ["packages/*/src/**/*.spec.ts", "services/*/src/**/*.spec.ts"],
        },
      },
      { ...source, test: { name: "conformance", include: ["test/conformance/**/*.test.ts"] } },
      {
        ...source,
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts", "test/faults/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
