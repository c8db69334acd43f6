import type { Command } from "commander";
import type { Context } from "./context.js";

/** Adds a command to the program. */
export type AddCommand = (program: Command, context: Context) => void;

/**
 * Every command by its name, in the order of the help. A command is loaded only when it is needed: what one brings along
 * takes longer to load than another to run.
 */
export const commandLoaders: Readonly<Record<string, () => Promise<AddCommand>>> = {
  demo: async () => (await import("./commands/demo.js")).addDemo,
  up: async () => (await import("./commands/up.js")).addUp,
  tail: async () => (await import("./commands/tail.js")).addTail,
  run: async () => (await import("./commands/show.js")).addRun,
  task: async () => (await import("./commands/show.js")).addTask,
  evidence: async () => (await import("./commands/evidence.js")).addEvidence,
  recall: async () => (await import("./commands/control.js")).addRecall,
  terminate: async () => (await import("./commands/control.js")).addTerminate,
  approve: async () => (await import("./commands/approve.js")).addApprove,
  calibration: async () => (await import("./commands/calibration.js")).addCalibration,
  audit: async () => (await import("./commands/audit.js")).addAudit,
  erase: async () => (await import("./commands/erase.js")).addErase,
  auth: async () => (await import("./commands/auth.js")).addAuth,
  streams: async () => (await import("./commands/streams.js")).addStreams,
  doctor: async () => (await import("./commands/doctor.js")).addDoctor,
  explain: async () => (await import("./commands/explain.js")).addExplain,
  policy: async () => (await import("./commands/policy.js")).addPolicy,
  report: async () => (await import("./commands/report.js")).addReport,
  schema: async () => (await import("./commands/schema.js")).addSchema,
};
