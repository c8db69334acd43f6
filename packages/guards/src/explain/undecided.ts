import type { Explanation } from "./explanation.js";

/** Why a wait for a decision ended without one (Q8). */
export const undecidedExplanations = {
  "not-delegated": {
    means: "No intent of this task is known.",
    todo: "Delegate it first, or check the task's id.",
  },
  disconnected: {
    means: "The connection to the server is down, so nothing new is known; it reconnects by itself.",
    todo: "Ask again.",
  },
  "no-guard": { means: "No guard answers for the task's lane.", todo: "Start one, or see why it stopped." },
  "guard-halted": {
    means: "The guard found the log at fault and judges no more.",
    todo: "Act on no verdict; tell the operator.",
  },
  "lane-behind": { means: "The guard has not folded the whole lane yet.", todo: "Ask again in a moment." },
  "no-report": { means: "The subagent has not reported.", todo: "Wait longer, recall it, or terminate it." },
  "not-final": { means: "The guard has judged, but waits for something still under way.", todo: "Ask again." },
} as const satisfies Record<string, Explanation>;
