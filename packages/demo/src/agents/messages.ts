import { claims } from "@candor/contract";
import { z } from "zod";
import { severities } from "../migrations/rules.js";

/** The subagents that the demo's orchestrator delegates to, by the name of their identity. */
export const principalNames = [
  "reviewer",
  "second-reviewer",
  "fetcher",
  "payer",
  "retry-hider",
  "tail-dropper",
  "restocker",
  "planner",
] as const;
export type PrincipalName = (typeof principalNames)[number];

/** All subagents of the demo: those, and the ones that the planner's task is passed on to. */
export const agentNames = [...principalNames, "buyer", "clerk"] as const;
export type AgentName = (typeof agentNames)[number];

const count = z.int().nonnegative();

/** What a subagent's process is handed over its IPC channel: the token is a secret, so it is in no argument list. */
export const jobSchema = z.object({
  servers: z.array(z.string()).min(1),
  /** Credentials folder of the agent. */
  credentials: z.string(),
  /** Delegation token. */
  token: z.string(),
  /** What there is to do; each agent knows its own form. */
  work: z.unknown(),
});
export type Job = Readonly<z.infer<typeof jobSchema>>;

/** What the reviewer found, counted. */
export const reviewCountsSchema = z.object({
  files: count,
  statements: count,
  /** Findings of danger. */
  dangerous: count,
  /** Statements that have one or several of them. */
  flagged: count,
  /** Of the findings, those that lose data or open access. */
  high: count,
  /** Files that are no SQL. */
  broken: count,
  /** Files that could not be looked at. */
  unread: count,
  /** Lines of `COPY` data, which are no statements. */
  dataLines: count,
});
export type ReviewCounts = Readonly<z.infer<typeof reviewCountsSchema>>;

/** One dangerous statement that the reviewer found. */
export const reviewFindingSchema = z.object({
  file: z.string(),
  line: count,
  rule: z.string(),
  severity: z.enum(severities),
  /** Its beginning, in one line. */
  statement: z.string(),
});
export type ReviewFinding = Readonly<z.infer<typeof reviewFindingSchema>>;

/** What a subagent's process says of its report once that is stored. */
export const toldSchema = z.object({
  claim: z.enum(claims),
  /** Errors and retries that its receipts own up to. */
  errors: count,
  retries: count,
  /** Effects that it says are committed. */
  committed: count,
  review: reviewCountsSchema.optional(),
  /** The gravest findings first, and no more than a channel takes. */
  findings: z.array(reviewFindingSchema).optional(),
});
export type Told = Readonly<z.infer<typeof toldSchema>>;

/** What a subagent's process sends to whoever started it. */
export const messageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress"), text: z.string() }),
  z.object({ type: z.literal("told"), told: toldSchema }),
  z.object({ type: z.literal("failed"), code: z.string(), message: z.string() }),
]);
export type Message = Readonly<z.infer<typeof messageSchema>>;

/** Says how the work goes, to whoever looks on. */
export type Say = (text: string) => void;

/** How long an agent waits for a first connection, in ms: all of them start at once. */
export const connectTimeoutMs = 20_000;

/** A subagent: does one job and says what its report told. */
export type Agent = (job: Job, say: Say) => Promise<Told>;
