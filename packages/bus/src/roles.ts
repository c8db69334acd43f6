import { streams } from "@candor/contract";

/** Roles that an identity can have, in the words of the command line. */
export const identityRoles = ["operator", "guard", "prober", "orchestrator", "agent", "auditor"] as const;
export type IdentityRole = (typeof identityRoles)[number];

/** What stands for the role in subjects and inbox prefixes. */
export const roleWords = {
  operator: "operator",
  guard: "guard",
  prober: "probe",
  orchestrator: "orch",
  agent: "agent",
  auditor: "auditor",
} as const satisfies Record<IdentityRole, string>;

/** Account with the streams, the guards and the operator. Every other identity is in an account of its own. */
export const logAccount = "LOG";

/** Prefix under which clients reach the few JetStream requests that their accounts import. */
export const clientApiPrefix = "candor.js";
export const serverApiPrefix = "$JS.API";

/** Inbox prefix of an identity: each has its own, so that nobody reads another's replies. */
export function inboxPrefix(role: IdentityRole, name: string): string {
  return `_IN.${roleWords[role]}.${name}`;
}

/** Account that an identity is the user of. */
export function accountOf(role: IdentityRole, name: string): string {
  return roleTable[role].inLogAccount ? logAccount : `${role}-${name}`;
}

/** API prefix that a role's client sets. */
export function apiPrefixOf(role: IdentityRole): string {
  return roleTable[role].inLogAccount ? serverApiPrefix : clientApiPrefix;
}

interface RoleRow {
  /** Only whoever needs JetStream itself is in the account that has it. */
  readonly inLogAccount: boolean;
  /** Subjects it may publish on, JetStream requests aside. */
  readonly publish: (name: string) => readonly string[];
  /** JetStream requests it may make, without the API prefix. */
  readonly api: (name: string) => readonly string[];
  /** Subjects it may subscribe, its inbox aside. */
  readonly subscribe: (name: string) => readonly string[];
}

/** A reader of its own on one stream: pull consumers, nothing that changes the stream. */
function reading(stream: string): string[] {
  return [
    `STREAM.INFO.${stream}`,
    `CONSUMER.CREATE.${stream}.>`,
    `CONSUMER.INFO.${stream}.>`,
    `CONSUMER.DELETE.${stream}.>`,
    `CONSUMER.MSG.NEXT.${stream}.>`,
  ];
}

/** Look-up of the last message on an exact stored subject. */
function lookUp(stream: string, subject: string): string {
  return `DIRECT.GET.${stream}.${subject}`;
}

/** Look-ups of single messages by sequence or subject, from the leader and from any replica. */
function anyLookUp(stream: string): string[] {
  return [`STREAM.MSG.GET.${stream}`, `DIRECT.GET.${stream}`, `DIRECT.GET.${stream}.>`];
}

const intents = lookUp(streams.log, "candor.log.*.*.*.orch.*.intent");
const verdicts = lookUp(streams.verdicts, "candor.vd.>");
const checkpoints = lookUp(streams.verdicts, "candor.checkpoint.*");
const intentKeys = lookUp(streams.keys, "candor.key.>");
const evidence = lookUp(streams.evidence, "candor.evidence.>");
const evidenceNames = `STREAM.INFO.${streams.evidence}`;

/**
 * Where those wait for an answer who may ask a guard: the server's own reply subjects for what other accounts import, and
 * the inboxes of operators. They are random, and no guard can read along. The server's `allow_responses` would do as well,
 * but it keeps a note of every message with a reply subject, and what a consumer delivers has one: reading the log then
 * costs the server several times as much, and more with every message.
 */
const askers = ["_R_.>", `${inboxPrefix("operator", "*")}.>`];

/** Everything that each role may do on the server. What is not listed is refused. */
export const roleTable = {
  operator: {
    inLogAccount: true,
    publish: () => ["candor.guard.state.>", "$SRV.>"],
    api: () => [">"],
    subscribe: () => ["candor.live.>"],
  },
  guard: {
    inLogAccount: true,
    publish: () => ["candor.in.guard.guard.>", "candor.vd.>", "candor.quarantine.>", "candor.checkpoint.>", ...askers],
    api: () => [
      ...[streams.log, streams.verdicts].flatMap((stream) => [...reading(stream), ...anyLookUp(stream)]),
      // What is over its retention goes; deleting single messages the stream itself denies.
      evidenceNames,
      evidence,
      `STREAM.PURGE.${streams.evidence}`,
    ],
    subscribe: () => ["candor.live.>", "candor.guard.state.>", "$SRV.>"],
  },
  prober: {
    inLogAccount: false,
    publish: (name) => [`candor.in.probe.${name}.>`, `candor.evidence.${name}.>`],
    api: (name) => [
      evidence,
      `STREAM.INFO.${streams.verdicts}`,
      intents,
      lookUp(streams.log, `candor.log.*.*.*.probe.${name}.*`),
      verdicts,
    ],
    subscribe: (name) => [
      "candor.live.log.*.*.*.orch.*.intent",
      "candor.live.vd.>",
      `candor.live.quarantine.*.${name}.*`,
    ],
  },
  orchestrator: {
    inLogAccount: false,
    publish: (name) => [
      `candor.in.orch.${name}.>`,
      `candor.evidence.${name}.>`,
      `$KV.CANDOR_DATA_KEYS.${name}.>`,
      "candor.guard.state.>",
    ],
    api: (name) => [
      ...reading(streams.verdicts),
      intents,
      verdicts,
      checkpoints,
      lookUp(streams.log, "candor.log.*.*.*.agent.*.accept"),
      lookUp(streams.log, "candor.log.*.*.*.agent.*.report"),
      evidence,
      lookUp(streams.dataKeys, `$KV.CANDOR_DATA_KEYS.${name}.>`),
    ],
    subscribe: () => ["candor.live.>"],
  },
  agent: {
    inLogAccount: false,
    publish: (name) => [`candor.in.agent.${name}.>`, `candor.key.${name}.>`, `candor.evidence.${name}.>`],
    api: (name) => [
      intents,
      lookUp(streams.evidence, `candor.evidence.${name}.>`),
      lookUp(streams.log, `candor.log.*.*.*.agent.${name}.*`),
      lookUp(streams.verdicts, "candor.vd.*.*.*.intent"),
      intentKeys,
    ],
    subscribe: (name) => [
      "candor.live.log.*.*.*.orch.*.intent",
      "candor.live.vd.>",
      `candor.live.quarantine.*.${name}.*`,
    ],
  },
  auditor: {
    inLogAccount: false,
    publish: () => ["candor.guard.state.>"],
    api: () => [
      ...reading(streams.log),
      ...reading(streams.verdicts),
      intents,
      lookUp(streams.log, "candor.log.*.*.*.agent.*.*"),
      lookUp(streams.log, "candor.log.*.*.*.probe.*.*"),
      verdicts,
      checkpoints,
      intentKeys,
      evidenceNames,
      evidence,
    ],
    subscribe: () => ["candor.live.>"],
  },
} as const satisfies Record<IdentityRole, RoleRow>;

/** What the account with the streams offers to the others, in the form in which it is exported. */
export const exported = {
  publish: [
    "candor.in.agent.>",
    "candor.in.orch.>",
    "candor.in.probe.>",
    "candor.key.>",
    "candor.evidence.>",
    "$KV.CANDOR_DATA_KEYS.>",
    "candor.guard.state.>",
  ],
  api: [
    ...reading(streams.log),
    ...reading(streams.verdicts),
    intents,
    lookUp(streams.log, "candor.log.*.*.*.agent.*.*"),
    lookUp(streams.log, "candor.log.*.*.*.probe.*.*"),
    verdicts,
    checkpoints,
    intentKeys,
    evidenceNames,
    evidence,
    lookUp(streams.dataKeys, "$KV.CANDOR_DATA_KEYS.>"),
  ],
  subscribe: ["candor.live.>"],
} as const;
