import type { IdentityName } from "../auth/auth-folder.js";

/** Who an embedded server knows without being told: enough to try everything. */
export const defaultIdentities: readonly IdentityName[] = [
  { role: "guard", name: "guard-1" },
  { role: "orchestrator", name: "fleet" },
  { role: "agent", name: "agent" },
  { role: "prober", name: "prober" },
  { role: "auditor", name: "auditor" },
];
