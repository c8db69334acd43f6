import {
  decodeSigned,
  decodeVerdictBody,
  encodeQuarantineBody,
  encodeVerdictBody,
  guardRecordMessage,
  isCandorError,
  type LogEntry,
  type StoredMessage,
} from "@candor/contract";
import { isNeeded, LaneFold, type HistoryNeed } from "@candor/guards";
import { admit, checkCertificate, verifySignature } from "@candor/ledger";
import type { ExpectedRecord, FoundRecord } from "./record-check.js";

export interface FoldedLog {
  /** What guards have to say on it, in order. */
  readonly records: readonly ExpectedRecord[];
  /** Events that had a record follow, timers not counted. */
  readonly inputs: number;
  /** Deadlines that no timer has told of yet. */
  readonly pendingTimers: number;
}

/** The entries of a run and one of its tasks, for a fold that has let go of them. */
function historyOf(past: readonly LogEntry[], need: HistoryNeed): LogEntry[] {
  return past.filter((entry) => {
    const [, , , run = "", task = ""] = entry.subject.split(".");
    return isNeeded(need, { run, task });
  });
}

/** Folds a lane as the log holds it, one message after the other, with nothing of what makes a guard fast. */
export function foldLog(log: readonly StoredMessage[], lane: number, operator: string): FoldedLog {
  const fold = new LaneFold(lane, { operator });
  const past: LogEntry[] = [];
  const records: ExpectedRecord[] = [];
  let inputs = 0;
  for (const message of log) {
    const entry = admit(message);
    for (let need = fold.needsHistory(entry); need !== undefined;) {
      need = fold.revive(need, historyOf(past, need), verifySignature);
    }
    const before = records.length;
    for (const output of fold.fold(entry, verifySignature)) {
      const { type } = output;
      if (type === "verdict") {
        const { subject, body } = output;
        records.push({ subject, ordinal: body.ordinal, body: encodeVerdictBody(body) });
      } else if (type === "quarantine") {
        records.push({ subject: output.subject, ordinal: 1, body: encodeQuarantineBody(output.body) });
      }
    }
    if (records.length > before && !message.subject.endsWith(".timer")) inputs += 1;
    past.push(entry);
  }
  return { records, inputs, pendingTimers: fold.pendingTimers().length };
}

function isSigned(message: StoredMessage, operator: string): boolean {
  const kind = message.subject.startsWith("candor.vd.") ? "verdict" : "quarantine";
  const { body, certificate, signature } = decodeSigned(message.data);
  try {
    checkCertificate(operator, certificate);
  } catch (error) {
    if (isCandorError(error)) return false;
    throw error;
  }
  return certificate.role === "guard" && verifySignature(certificate.key, guardRecordMessage(kind, body), signature);
}

/** The records of one lane in what the verdict stream holds; checkpoints are none. */
export function recordsIn(stored: readonly StoredMessage[], lane: number, operator: string): FoundRecord[] {
  const prefixes = [`candor.vd.${lane}.`, `candor.quarantine.${lane}.`] as const;
  return stored
    .filter(({ subject }) => prefixes.some((prefix) => subject.startsWith(prefix)))
    .map((message) => {
      const { subject, data } = message;
      const { body } = decodeSigned(data);
      const ordinal = subject.startsWith(prefixes[0]) ? decodeVerdictBody(body).ordinal : 1;
      return { subject, ordinal, body, isAuthentic: isSigned(message, operator) };
    });
}
