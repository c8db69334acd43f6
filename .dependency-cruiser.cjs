/** The import directions of the design: decisions stay pure, a subagent never judges itself, services never meet. */
const only = (name, from, allowed) => ({
  name,
  severity: "error",
  from: { path: `^${from}/src`, pathNot: "\\.spec\\.ts$" },
  to: { path: "^(packages|services|test)/", pathNot: [`^${from}/`, ...allowed.map((p) => `^packages/${p}/`)] },
});
const noPackages = (name, from, pattern) => ({
  name,
  severity: "error",
  from: { path: `^${from}/src`, pathNot: "\\.spec\\.ts$" },
  to: { dependencyTypes: ["npm", "npm-dev", "npm-no-pkg", "npm-unknown"], pathNot: pattern },
});

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    only("contract-stands-alone", "packages/contract", []),
    only("ledger-knows-contract", "packages/ledger", ["contract"]),
    only("guards-know-contract", "packages/guards", ["contract"]),
    only("bus-knows-contract", "packages/bus", ["contract"]),
    only("subagent-does-not-judge", "packages/subagent", ["contract", "ledger", "bus"]),
    only("orchestrator", "packages/orchestrator", ["contract", "ledger", "guards", "bus"]),
    only("demo", "packages/demo", ["contract", "ledger", "bus", "subagent", "orchestrator"]),
    only("cli", "packages/cli", ["contract", "ledger", "guards", "bus", "orchestrator", "demo"]),
    only("services-never-meet", "services/guard", ["contract", "ledger", "guards", "bus"]),
    noPackages("contract-libraries", "packages/contract", ["@msgpack/msgpack", "zod"]),
    noPackages("ledger-libraries", "packages/ledger", ["@msgpack/msgpack", "tweetnacl", "candor"]),
    noPackages("guards-libraries", "packages/guards", ["candor", "@msgpack/msgpack"]),
    {
      name: "guards-are-pure",
      severity: "error",
      from: { path: "^packages/guards/src", pathNot: "\\.spec\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    { name: "no-orphan-paths", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/" },
    tsConfig: { fileName: "tsconfig.specs.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["candor-source", "import", "node", "default", "types"],
    },
  },
};
