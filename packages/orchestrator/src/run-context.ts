import type { Certificate, Payload } from "@candor/contract";
import type { IntentWriter, IssuedIntent } from "./intent-writer.js";
import type { Intent } from "./run-options.js";
import type { RunView } from "./run-view.js";
import type { ReaderContext } from "./verdict-reader.js";

/** What a run's orchestrator works with. */
export interface RunContext extends ReaderContext {
  readonly id: string;
  readonly lane: number;
  readonly operator: string;
  /** The operator's word for the fleet's key, which agents check. */
  readonly fleet: Certificate;
  readonly view: RunView;
  readonly writer: IntentWriter;
  readonly policyHash: Uint8Array;
  /** Undefined once the operator erased it. */
  readonly dataKey: Uint8Array | undefined;
  readonly isClosed: boolean;
  /** The task that a sub-fleet delegates parts of; undefined for the fleet that opened the run. */
  readonly parent: Payload<"delegate">["parent"];
  /** Stops following the run. */
  readonly release: () => void;
}

/** What the caller is told of an intent that the log has. */
export function asIntent({ event, sequence, hash }: IssuedIntent): Intent {
  return { task: event.task, epoch: event.epoch, control: event.seq, sequence, hash };
}

/** The field for an intent that expires; none for one that does not. */
export const deadline = (notAfterMs: number | undefined): { notAfterMs?: number } =>
  notAfterMs === undefined ? {} : { notAfterMs };
