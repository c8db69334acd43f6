import type { Bus } from "@candor/bus";
import {
  CandorError,
  decodeSigned,
  decodeVerdictBody,
  isCandorError,
  laneOf,
  requireId,
  runTask,
  streams,
  type LogEntry,
  type StoredMessage,
  type VerdictBody,
} from "@candor/contract";
import { admit } from "@candor/ledger";
import { readProseKey } from "./data-key.js";
import type { ProseKey } from "./prose.js";
import { readMessages } from "./stream-messages.js";

/** A verdict as it was published. */
export interface PublishedVerdict extends VerdictBody {
  /** Name of the guard that signed it. */
  readonly guard: string;
  /** Sequence in the verdict stream. */
  readonly recordSeq: number;
}

/** All that the streams hold of a run, or of one task of it. */
export interface RunLog {
  readonly run: string;
  readonly lane: number;
  /** Entries of the run itself and of the task, or of all tasks, in log order. */
  readonly entries: readonly LogEntry[];
  readonly verdicts: readonly PublishedVerdict[];
  readonly key: ProseKey;
}

function verdictsIn(messages: readonly StoredMessage[]): readonly PublishedVerdict[] {
  return messages.flatMap(({ seq, data }) => {
    try {
      const { body, certificate } = decodeSigned(data);
      return [{ ...decodeVerdictBody(body), guard: certificate.name, recordSeq: seq }];
    } catch (error) {
      // Whether records are what they should be is for the audit to say.
      if (isCandorError(error)) return [];
      throw error;
    }
  });
}

/** The fleet that opened the run. */
function fleetOf(entries: readonly LogEntry[]): string | undefined {
  const opening = entries.find((entry) => entry.type === "event" && entry.kind === "run-open");
  return opening?.type === "event" ? opening.event.actor : undefined;
}

/**
 * Reads what there is of a run, or of one task of it.
 *
 * @param bus connection of the operator or an auditor
 * @throws CandorError `not-found` if there is nothing of it, `bad-argument` for an id that can't be one
 */
export async function readRunLog(
  bus: Bus,
  lanes: number,
  { run, task }: { readonly run: string; readonly task?: string },
): Promise<RunLog> {
  const lane = laneOf(requireId(run, "run"), lanes);
  const scope = task === undefined ? ">" : `${requireId(task, "task")}.>`;
  const [own, ofRun, verdicts] = await Promise.all([
    readMessages(bus, streams.log, `candor.log.${lane}.${run}.${scope}`),
    task === undefined ? [] : readMessages(bus, streams.log, `candor.log.${lane}.${run}.${runTask}.>`),
    readMessages(bus, streams.verdicts, `candor.vd.${lane}.${run}.${scope}`),
  ]);
  if (own.length === 0) {
    throw task === undefined ? nothingOf(`a run ${run}`, "run") : nothingOf(`a task ${task} of run ${run}`, "task");
  }
  const entries = [...ofRun, ...own].sort((a, b) => a.seq - b.seq).map(admit);
  const fleet = fleetOf(entries);
  const key = fleet === undefined ? ({ state: "withheld" } as const) : await readProseKey(bus, { fleet, run });
  return { run, lane, entries, verdicts: verdictsIn(verdicts), key };
}

/** @param what is named, for people */
export function nothingOf(what: string, path: "run" | "task"): CandorError {
  return new CandorError(
    "not-found",
    `The log holds nothing of ${what}: check the id; "candor run list" shows the runs there are.`,
    { path },
  );
}
