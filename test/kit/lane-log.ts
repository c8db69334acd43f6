import {
  encodeBody,
  encodeFrame,
  encodePayload,
  eventHash,
  guardActor,
  kindTable,
  storedSubject,
  subjectKind,
  zeroHash,
  type EventKind,
  type LogEntry,
  type Payload,
  type QuarantineBody,
  type StoredMessage,
  type VerdictBody,
} from "@candor/contract";
import { isNeeded, LaneFold, type Output, type TimerRequest } from "@candor/guards";
import { admit, verifySignature, type Signer } from "@candor/ledger";
import { operator } from "./scenario-cast.js";

const lane = 0;

/** Where an event stands in its author's chain, and who signs it. */
export interface Placed {
  readonly task: string;
  readonly actor: string;
  readonly epoch: number;
  readonly seq: number;
  readonly prev: Uint8Array;
  readonly signer?: Signer | undefined;
  /** Publishes it under another task than the body names. */
  readonly subjectTask?: string;
}

/** A lane's log that is folded as it is written, and what the fold says. Time passes only when a test says so. */
export class LaneLog {
  readonly log: StoredMessage[] = [];
  readonly verdicts: VerdictBody[] = [];
  readonly quarantined: QuarantineBody[] = [];
  readonly timers: TimerRequest[] = [];
  fold = new LaneFold(lane, { operator: operator.publicKey });
  nowMs = 1_700_000_000_000;
  /** Hash of the event that was made last. */
  lastHash: Uint8Array = zeroHash;
  readonly run: string;

  constructor(run: string) {
    this.run = run;
  }

  /** Stores bytes as the log would and folds them. */
  store(subject: string, data: Uint8Array): Output[] {
    const message: StoredMessage = { seq: this.log.length + 1, timeMs: this.nowMs, subject, data };
    this.log.push(message);
    return this.foldEntry(admit(message));
  }

  foldEntry(entry: LogEntry): Output[] {
    for (let need = this.fold.needsHistory(entry); need !== undefined;) {
      const asked = need;
      const history = this.log
        .filter(({ seq }) => seq < entry.seq)
        .map(admit)
        .filter((past) => past.type === "event" && isNeeded(asked, past.event));
      need = this.fold.revive(asked, history, verifySignature);
    }
    const outputs = this.fold.fold(entry, verifySignature);
    for (const output of outputs) {
      if (output.type === "verdict") this.verdicts.push(output.body);
      else if (output.type === "quarantine") this.quarantined.push(output.body);
      else if (output.type === "timer") this.timers.push(output);
    }
    return outputs;
  }

  /** Encodes, signs and stores one event; every header field may be bent. */
  event<K extends EventKind>(kind: K, payload: Payload<K>, at: Placed): { outputs: Output[]; hash: Uint8Array } {
    const { subject, data, hash } = this.encode(kind, payload, at);
    return { outputs: this.store(subject, data), hash };
  }

  /** Lets log time pass and the guard's timers of that time fire. What is to be looked up is for a test to say. */
  tick(ms: number): this {
    this.nowMs += ms;
    const due = this.fold
      .pendingTimers()
      .filter(({ timer, deadlineMs }) => timer !== "evidence" && deadlineMs <= this.nowMs);
    for (const request of due) this.timer(request);
    return this;
  }

  timer({ task, epoch, timer, deadlineMs }: TimerRequest): Output[] {
    return this.event("timer", { timer, deadlineMs }, { task, actor: guardActor, epoch, seq: 1, prev: zeroHash })
      .outputs;
  }

  /** The last verdict of a judge, shortened to what a reader acts on. */
  last(
    judge: VerdictBody["judge"],
    task = "t1",
  ): { verdict: string; action: string; final: boolean; findings: string[] } | undefined {
    const body = this.verdicts.filter((verdict) => verdict.judge === judge && verdict.task === task).at(-1);
    if (body === undefined) return undefined;
    const { verdict, action, final, findings } = body;
    return { verdict, action, final, findings: findings.map(({ code }) => code) };
  }

  codes(): string[] {
    return this.quarantined.map(({ code }) => code);
  }

  /** Encodes and signs one event without storing it; every header field may be bent. */
  protected encode<K extends EventKind>(
    kind: K,
    payload: Payload<K>,
    at: Placed,
  ): { subject: string; data: Uint8Array; hash: Uint8Array } {
    const { role } = kindTable[kind];
    const { task, actor, epoch, seq, prev, signer } = at;
    const { run } = this;
    const body = encodeBody({
      kind,
      run,
      task,
      epoch,
      role,
      actor,
      seq,
      prev,
      at: this.nowMs,
      payload: encodePayload(kind, payload),
    });
    const hash = eventHash(body);
    this.lastHash = hash;
    const subject = storedSubject({
      lane,
      run,
      task: at.subjectTask ?? task,
      role,
      actor,
      kind: subjectKind(role, kind),
    });
    return { subject, data: encodeFrame(body, signer?.sign(hash)), hash };
  }
}
