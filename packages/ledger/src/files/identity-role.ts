import type { Role } from "@candor/contract";

interface RoleRow {
  /** What stands for the role in subjects and inbox prefixes. */
  readonly word: string;
  /** Role that the operator certifies the signing key for; none for those who sign no events or records. */
  readonly certified: Role | undefined;
  /** Prefix under which JetStream's requests are reached: clients import a few, under another name. */
  readonly apiPrefix: "$JS.API" | "candor.js";
}

/** Roles of identities in the words of the command line. */
const roleTable = {
  operator: { word: "operator", certified: undefined, apiPrefix: "$JS.API" },
  guard: { word: "guard", certified: "guard", apiPrefix: "$JS.API" },
  prober: { word: "probe", certified: "probe", apiPrefix: "candor.js" },
  orchestrator: { word: "orch", certified: "orch", apiPrefix: "candor.js" },
  agent: { word: "agent", certified: "agent", apiPrefix: "candor.js" },
  auditor: { word: "auditor", certified: undefined, apiPrefix: "candor.js" },
} as const satisfies Record<string, RoleRow>;

export type IdentityRole = keyof typeof roleTable;

export function isIdentityRole(text: string): text is IdentityRole {
  return Object.hasOwn(roleTable, text);
}

export function rowOf(role: IdentityRole): RoleRow {
  return roleTable[role];
}
