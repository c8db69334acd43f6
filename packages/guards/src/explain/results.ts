import type { ResultFindingCode } from "@candor/contract";
import type { Explanation } from "./explanation.js";

/** Findings on results beside each other, and beside their work. */
export const resultExplanations = {
  "results-conflict": {
    means: "Two tasks of the run claim the opposite of each other. `about` names them, the one that says pass first.",
    todo: "Decide over neither by its confidence: open what both point to, or have the thing itself probed.",
  },
  "under-decomposed": {
    means: "The measured result has 0.8 of the size of the measured work or more. `about` tells both sizes.",
    todo: "Nothing for this result; give the next subagent work whose result is small beside it.",
  },
} as const satisfies Record<ResultFindingCode, Explanation>;
