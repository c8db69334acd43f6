import type { Certificate } from "@candor/contract";
import type { Prober, Run } from "@candor/orchestrator";
import type { Say } from "../agents/messages.js";
import type { VerdictStory } from "./verdict-story.js";

export interface TaskRunContext {
  readonly run: Run;
  readonly story: VerdictStory;
  readonly servers: readonly string[];
  /** Credentials folder and certificate of the plan's agent. */
  readonly credentials: string;
  readonly certificate: Certificate;
  /** Signs what verifiers come to. */
  readonly prober: Prober;
  readonly say: Say;
  readonly signal: AbortSignal;
}
