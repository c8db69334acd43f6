import type { FailureLayer, HopDeed, PropagatedFailure, Stated } from "@candor/contract";
import { FindingList } from "./judgement.js";

/** The task that a task is a part of, where a sub-fleet delegated it. */
export interface TaskParent {
  readonly task: string;
  readonly epoch: number;
  /** The sub-fleet, to which the task belongs. */
  readonly fleet: string;
  /** How many delegations it is away from the run's own fleet, from 1. */
  readonly layer: number;
}

/** What a guard holds of a task that failed and said so. */
export interface KeptFailure {
  readonly link: FailureLink;
  readonly facts: Omit<PropagatedFailure, "severity" | "vocabulary" | "origin" | "layers">;
}

/** A failure as a task states it to whoever delegated it, and its way up to there. Hashes are as `hashText`. */
export interface FailureLink {
  readonly epoch: number;
  /** Hash of the event that states it. */
  readonly hash: string;
  /** Log sequence of the report that owns up to it. */
  readonly seq: number;
  readonly says: Stated;
  readonly origin: PropagatedFailure["origin"];
  /** Every event that stated it, from its origin up to this one. */
  readonly hashes: readonly string[];
  readonly layers: readonly FailureLayer[];
}

/** An error of a task that is a child's failure, passed on. */
export interface KeptHop {
  readonly child: string;
  readonly did: HopDeed;
  readonly saw: Stated;
  readonly says: Stated;
  readonly hash: string;
  readonly atMs: number;
  /** What the child stated, where the hop says it as it was. */
  readonly link: FailureLink | undefined;
}

/** What an epoch knows of the tasks that it delegated. Made when there first is one. */
export interface Family {
  /** Children whose present epoch has not reported. */
  readonly open: Set<string>;
  /** Children whose present epoch failed. */
  readonly failed: Map<string, FailureLink>;
  /** By the author's number of the error. */
  readonly hops: Map<number, KeptHop>;
  readonly findings: FindingList;
}

export function initialFamily(): Family {
  return { open: new Set(), failed: new Map(), hops: new Map(), findings: new FindingList() };
}
