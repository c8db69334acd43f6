import type { EvidencePort } from "@candor/bus";
import type { AgentKind, Certificate, LogEntry } from "@candor/contract";
import type { GuardState } from "./decision.js";
import type { StoredIntent } from "./task-line.js";

/** A message as it lies in the verdict stream. */
export interface StoredRecord {
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
}

/** An intent with its payload, as the server has it. */
export interface FoundIntent {
  readonly intent: StoredIntent;
  readonly payload: Uint8Array;
}

export type StoreOutcome =
  | { readonly type: "stored"; readonly sequence: number }
  | {
      readonly type: "lost";
      /** The last intent on the subject, where it was found. */
      readonly winner: StoredIntent | undefined;
    };

export interface StoredNote extends StoredRecord {
  readonly certificate: Certificate;
}

export interface TaskAddress {
  readonly lane: number;
  readonly run: string;
  readonly task: string;
}

/** What an orchestrator asks of the server. */
export interface LogClient {
  readonly lanes: number;
  readonly isConnected: () => boolean;
  /** Stores an intent if the last one on its subject is at `expectedSequence`; 0 for none. */
  readonly storeIntent: (at: TaskAddress, frame: Uint8Array, expectedSequence: number) => Promise<StoreOutcome>;
  /** The last intent on a task's subject. */
  readonly lastIntent: (at: TaskAddress) => Promise<FoundIntent | undefined>;
  /** Messages of the verdict stream in a subject filter, with sequences above `after`: first all that are there, then as they come. */
  readonly records: (
    filter: string,
    options: { readonly after: number; readonly signal: AbortSignal },
  ) => AsyncIterable<StoredRecord>;
  /** Stream sequence of the newest message of the verdict stream; 0 for an empty one. */
  readonly lastRecord: () => Promise<number>;
  /** The message at a sequence of the verdict stream, on whatever subject. */
  readonly recordAt: (sequence: number) => Promise<StoredRecord | undefined>;
  readonly lastCheckpoint: (lane: number) => Promise<StoredNote | undefined>;
  /** Keeps a run's data key; returns the one that is there if there is one. */
  readonly keepDataKey: (run: string, key: Uint8Array) => Promise<Uint8Array>;
  readonly dataKey: (run: string) => Promise<Uint8Array | undefined>;
  /** An agent's last event of a kind on a task. */
  readonly lastOfAgent: (
    at: TaskAddress,
    actor: string,
    kind: Extract<AgentKind, "accept" | "report">,
  ) => Promise<LogEntry | undefined>;
  readonly evidence: EvidencePort;
  readonly guardState: (lane: number, timeoutMs: number) => Promise<GuardState | undefined>;
  readonly close: () => Promise<void>;
}
