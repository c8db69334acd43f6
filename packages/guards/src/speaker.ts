import {
  cutText,
  encodeCanonical,
  foldVersion,
  quarantineSubject,
  sha256,
  verdictSubject,
  type Judge,
  type LogEntry,
  type QuarantineCode,
  type TimerKind,
  type VerdictBody,
} from "@candor/contract";
import type { InFlightEffects } from "./effect-ledger.js";
import { openPointers } from "./evidence-pointers.js";
import type { Judgement } from "./judgement.js";
import { hashText } from "./kept.js";
import { changeOf, listFindings, listInFlight } from "./listing.js";
import type { Output, TimerRequest } from "./output.js";
import { sentenceOf } from "./sentences.js";
import { keepSpoken, lastSpokenOn } from "./spoken.js";
import type { EpochState, RunState, TaskState } from "./state.js";

export type VerdictExtras = Pick<
  VerdictBody,
  | "intent"
  | "deadlineMs"
  | "confidence"
  | "reference"
  | "scope"
  | "conflicts"
  | "failure"
  | "awaits"
  | "report"
  | "upstreams"
>;

interface About extends VerdictExtras {
  readonly epoch: EpochState | undefined;
  readonly inFlight?: InFlightEffects;
  /** Log sequence that the cause begins with, where it is not that of the epoch or the entry. */
  readonly first?: number;
}

/** Collects what folding one entry brings forth, and gives each verdict its place, cause and ordinal. */
export class Speaker {
  readonly outputs: Output[] = [];
  readonly #lane: number;
  readonly #entry: LogEntry;

  constructor(lane: number, entry: LogEntry) {
    this.#lane = lane;
    this.#entry = entry;
  }

  /**
   * Log time of the entry in ms. It may be before that of the last one, by which it is not corrected: a task that is read
   * again comes without the other entries of its lane, and must come to the same deadlines.
   */
  get nowMs(): number {
    return this.#entry.timeMs;
  }

  /** Log sequence of the entry. */
  get seq(): number {
    return this.#entry.seq;
  }

  /** A verdict that would repeat the last one's content is not spoken. */
  verdict(run: RunState, task: TaskState, judge: Judge, judgement: Judgement, about: About): void {
    const { epoch, inFlight, first, ...extras } = about;
    const number = epoch?.epoch ?? 0;
    const content = contentOf(judgement, number, about);
    if (lastSpokenOn(task, judge, number)?.content === content) return;
    const { ordinal, revision } = keepSpoken(task, judge, number, content);
    const findings = listFindings(judgement.findings, judgement.dropped);
    const effects = inFlight === undefined ? undefined : listInFlight(inFlight.listed, inFlight.total);
    const omitted = { findings: findings.omitted, inFlight: effects?.omitted ?? 0 };
    const body: VerdictBody = {
      run: run.run,
      task: task.task,
      epoch: number,
      ...(epoch === undefined ? {} : { actor: epoch.actor }),
      judge,
      verdict: judgement.verdict,
      action: judgement.action,
      final: judgement.final,
      revision,
      ordinal,
      findings: findings.items,
      sentence: sentenceOf(judgement.verdict, judgement.findings, judgement.dropped),
      cause: {
        first: first ?? (epoch === undefined || judge === "intent" ? this.#entry.seq : epoch.seq),
        last: this.#entry.seq,
      },
      at: this.nowMs,
      fold: foldVersion,
      policy: run.policyHash,
      isolation: run.isolation,
      ...(effects === undefined ? {} : { inFlight: effects.items }),
      ...(omitted.findings + omitted.inFlight === 0 ? {} : { omitted }),
      ...dropUndefined(extras),
    };
    const subject = verdictSubject({ lane: this.#lane, run: run.run, task: task.task, judge });
    this.outputs.push({ type: "verdict", subject, body });
  }

  quarantine(entry: LogEntry, code: QuarantineCode, sentence: string, path?: string): void {
    this.outputs.push({
      type: "quarantine",
      subject: quarantineSubject({ lane: this.#lane, actor: entry.actorToken, logSeq: entry.seq }),
      body: {
        code,
        seq: entry.seq,
        subject: cutText(entry.subject, 1024),
        sha256: sha256(entry.data),
        ...(path === undefined ? {} : { path: cutText(path, 256) }),
        sentence: cutText(sentence, 1000),
        at: this.nowMs,
        fold: foldVersion,
      },
    });
  }

  arm(run: RunState, task: TaskState, epoch: EpochState, timer: TimerKind, deadlineMs: number): void {
    task.timers = { ...task.timers, [timer]: { epoch: epoch.epoch, deadlineMs } };
    this.outputs.push({ type: "timer", ...timerRequest(run, task, epoch, timer, deadlineMs) });
  }

  cancel(run: RunState, task: TaskState, timer: TimerKind): void {
    const armed = task.timers[timer];
    if (armed === undefined) return;
    task.timers = Object.fromEntries(Object.entries(task.timers).filter(([kind]) => kind !== timer));
    this.outputs.push({ type: "timer-cancelled", run: run.run, task: task.task, timer, ...armed });
  }
}

/** What a guard needs to publish a timer in its time. */
export function timerRequest(
  { run }: RunState,
  { task }: TaskState,
  { epoch, disclosure }: EpochState,
  timer: TimerKind,
  deadlineMs: number,
): TimerRequest {
  const request = { run, task, epoch, timer, deadlineMs };
  return timer === "evidence" ? { ...request, evidence: openPointers(disclosure.odd.evidence) } : request;
}

function dropUndefined(extras: VerdictExtras): VerdictExtras {
  return Object.fromEntries(Object.entries(extras).filter(([, value]) => value !== undefined));
}

/** Digest of what makes a verdict a new one, as short text. Scope and reference follow from the rest. */
function contentOf(judgement: Judgement, epoch: number, { intent, inFlight, deadlineMs }: About): string {
  const { verdict, action, final, findings, dropped = 0 } = judgement;
  const found = changeOf(
    findings,
    findings.length + dropped,
    ({ code, about }) => [code, about ?? null],
    ({ code }) => code,
  );
  const parts = [epoch, verdict, action, final, found];
  const keys =
    inFlight === undefined
      ? null
      : changeOf(
          inFlight.listed,
          inFlight.total,
          ({ key }) => key,
          () => "",
        );
  const about = intent === undefined ? null : [intent.control, intent.kind, intent.hash];
  return hashText(sha256(encodeCanonical([parts, keys, deadlineMs ?? null, about])).subarray(0, 16));
}
