import type { AuditCode, QuarantineCode } from "@candor/contract";
import type { Explanation } from "./explanation.js";

/** Why a stored message is no event: it was put into quarantine, and its publisher gets a notice. */
export const quarantineExplanations = {
  malformed: {
    means: "The bytes are no event: frame, header or payload do not fit the schema. The record names the field.",
    todo: 'Correct the publisher. "candor schema" prints what each payload must look like.',
  },
  "non-canonical": {
    means:
      "The bytes decode, but have a second reading: a duplicate key, a long form of an integer, invalid UTF-8, trailing bytes.",
    todo: "Encode with the SDK, or with a canonical msgpack encoder.",
  },
  "too-large": {
    means: "The event is larger than the wire allows.",
    todo: "Shorten it, and store the bulk elsewhere.",
  },
  "unknown-version": {
    means: "The event is of a wire version that this guard does not know.",
    todo: "Update the guard, or the publisher if it is the older one.",
  },
  "unknown-kind": {
    means: "The event is of a kind that this version does not know.",
    todo: "Update the guard, or correct the publisher.",
  },
  "unknown-type": {
    means: "A field holds a member of a vocabulary that this version does not know. The record names the field.",
    todo: "Update the guard, or correct the publisher.",
  },
  "subject-mismatch": {
    means: "The subject says another run, task, role, actor or kind than the body.",
    todo: "Publish each event on its own subject; see who published it.",
  },
  unsigned: {
    means: "An event of this kind must carry a signature of its own, and this one has none.",
    todo: "Sign it with the task key (agents), the fleet's key (intents) or the prober's key.",
  },
  "bad-signature": {
    means: "The signature is not one of the key that counts here, or the event was changed after signing.",
    todo: "Check which key the publisher signs with; if it is the right one, someone changed the event.",
  },
  "untrusted-key": {
    means: "The key is not certified by the operator, or not tied to this delegation.",
    todo: 'Use credentials that "candor auth add" made for this operator; an agent accepts its delegation first.',
  },
  "no-delegation": {
    means: "The log holds no delegation of this task and epoch to that actor.",
    todo: "Delegate first; see whether run, task and actor are spelled right.",
  },
  "wrong-epoch": {
    means: "The event belongs to an epoch that is over, or comes too late and too often for a closed task.",
    todo: "Stop the old process: it works under a delegation that no longer holds.",
  },
} as const satisfies Record<QuarantineCode, Explanation>;

/** What guards and audits find about the log as a whole. */
export const auditExplanations = {
  "log-rolled-back": {
    means: "The log ends before a point that somebody has seen: an older copy was restored.",
    todo: "Stop writing. Restore the newest copy of the store; guards stay halted on that lane until the log reaches their checkpoint again.",
  },
  "log-truncated": {
    means: "The end of the log, or a message within it, is gone.",
    todo: "Stop writing. Restore the store from a copy or another replica; what is lost is in the sequence range named.",
  },
  "log-altered": {
    means:
      "A message of the log is not the one that a checkpoint covers: its bytes, subject, headers or time were changed.",
    todo: "Stop writing. Compare the message named with a copy or another replica, and find out who can write to the store.",
  },
  "guard-divergence": {
    means: "Two guards came to different verdicts from the same log.",
    todo: "See that both run the same version; if they do, report it as a defect, with the log.",
  },
  "verdict-missing": {
    means: "The log brings forth a verdict, or a record of quarantine, that is not in the verdict stream.",
    todo: "If no guard has judged that far yet, start one and audit again; else the verdict stream was changed.",
  },
  "verdict-differs": {
    means: "A published verdict is not the one that the log brings forth, or not signed by a certified guard.",
    todo: "Trust the log, not the verdict. Find out which guard signed it and which version it runs.",
  },
} as const satisfies Record<AuditCode, Explanation>;
