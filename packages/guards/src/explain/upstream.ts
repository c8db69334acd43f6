import type { upstreamFindings } from "@candor/contract";
import type { Explanation } from "./explanation.js";

/** Findings about what the tasks of a run call. */
export const upstreamExplanations = {
  "upstream-degraded": {
    means:
      "In one window of the policy, too large a share of the calls that the run's tasks made to this upstream did not succeed at their first try, whatever became of the tasks. `about` is the upstream; the verdict has the figures.",
    todo: "Hold back new work that needs it, and see to it; what was done with it stands.",
  },
  "blame-uncorroborated": {
    means:
      "The task gave up over an error of this upstream's, and other tasks of the run used it in the same window without any trouble. `about` is the upstream; the verdict has the figures.",
    todo: "Do not take the task's word for the cause: look at what it asked of the upstream, and how.",
  },
} as const satisfies Record<(typeof upstreamFindings)[number], Explanation>;
