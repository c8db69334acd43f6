import type { UpwardReport } from "@candor/contract";

/** An upward report of work that is done, with nothing to decide. */
export const completedReport: UpwardReport = {
  status: "completed",
  confidence: 0.9,
  blockers: [],
  "escalation-required": false,
  "escalation-reason": null,
  "evidence-anchors": [],
  "planned-actions-pending-approval": [],
  notes: null,
};
