import type { Mode, Scope } from "@candor/contract";

/**
 * What this SDK sees of a task whose calls go through `attempt()` and `effect()`. Model and transport attempts below
 * those calls are unseen: an adapter that sees them says so when it accepts the task.
 */
export function defaultScope(mode: Mode): Scope {
  return {
    dimensions: {
      toolCalls: "observed",
      toolErrors: "observed",
      modelAttempts: "unseen",
      transportAttempts: "unseen",
      effects: mode === "enforce" ? "enforced" : "observed",
      abort: "enforced",
      children: "unseen",
    },
    adapter: "@candor/subagent 0.1.0",
  };
}
