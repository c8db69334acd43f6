import type { EvidencePort } from "@candor/bus";
import type { CandorError } from "@candor/contract";
import type { Expectation } from "./spool/spool-record.js";

export type { Expectation };

/** What came of one publish. */
export type PublishOutcome =
  | { readonly outcome: "stored"; readonly sequence: number }
  /** The expectation did not hold, or the subject is write-once and holds `existing`. */
  | {
      readonly outcome: "lost";
      /** False if an earlier try got no answer, so that these bytes may be stored below. */
      readonly certain: boolean;
      readonly existing?: Uint8Array;
    }
  /** Not stored now; it may be later. */
  | { readonly outcome: "later"; readonly error: CandorError }
  /** Not stored, and it never will be. */
  | { readonly outcome: "refused"; readonly error: CandorError }
  /** No answer: stored or not. */
  | { readonly outcome: "unknown"; readonly error: CandorError };

/** Where events go. It never throws. */
export interface EventSink {
  publish(subject: string, data: Uint8Array, expect?: Expectation): Promise<PublishOutcome>;
}

export interface Stored {
  readonly sequence: number;
  readonly data: Uint8Array;
}

export type LookUpStream = "log" | "verdicts" | "keys";

/** Look-up of the last message on one exact stored subject. */
export interface LookUp {
  /** @throws CandorError `server-unreachable` or `connection-closed` while nobody answers. */
  last(stream: LookUpStream, subject: string): Promise<Stored | undefined>;
}

export interface LiveMessage {
  /** Subject as stored. */
  readonly subject: string;
  readonly sequence: number;
  readonly data: Uint8Array;
}

/** Live delivery of what is stored. It may have gaps, which look-ups close. */
export interface LiveFeed {
  /** @param subject as stored; wildcards allowed. Returns what ends it. */
  subscribe(subject: string, listener: (message: LiveMessage) => void): () => void;
  /** Called after each interruption, when messages may have been missed. Returns what ends it. */
  onReconnect(listener: () => void): () => void;
}

/** All that a task needs of the bus. */
export interface TaskBus extends EventSink, LookUp, LiveFeed {
  readonly evidence: EvidencePort;
}
