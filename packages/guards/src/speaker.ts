import {
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
import type { Judgement } from "./judgement.js";
import { hashText } from "./kept.js";
import type { Output } from "./output.js";
import { sentenceOf } from "./sentences.js";
import type { EpochState, RunState, TaskState } from "./state.js";

export type VerdictExtras = Pick<
  VerdictBody,
  "intent" | "inFlight" | "deadlineMs" | "confidence" | "reference" | "scope"
>;

/** Collects what folding one entry brings forth, and gives each verdict its place, cause and ordinal. */
export class Speaker {
  readonly outputs: Output[] = [];
  readonly #lane: number;
  readonly #entry: LogEntry;
  readonly #nowMs: number;

  /** @param nowMs log time, which never runs backwards */
  constructor(lane: number, entry: LogEntry, nowMs: number) {
    this.#lane = lane;
    this.#entry = entry;
    this.#nowMs = nowMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** A verdict that would repeat the last one's content is not spoken. */
  verdict(
    run: RunState,
    task: TaskState,
    judge: Judge,
    judgement: Judgement,
    about: { epoch: EpochState | undefined } & VerdictExtras,
  ): void {
    const { epoch, ...extras } = about;
    const number = epoch?.epoch ?? 0;
    const content = contentOf(judgement, number, extras);
    const last = task.spoken[judge];
    if (last?.content === content) return;
    const ordinal = (last?.ordinal ?? 0) + 1;
    const revision = last?.epoch === number ? last.revision + 1 : 1;
    task.spoken[judge] = { ordinal, revision, epoch: number, content };
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
      findings: [...judgement.findings],
      sentence: sentenceOf(judgement.verdict, judgement.findings),
      cause: { first: epoch === undefined || judge === "intent" ? this.#entry.seq : epoch.seq, last: this.#entry.seq },
      at: this.#nowMs,
      fold: foldVersion,
      policy: run.policyHash,
      isolation: run.isolation,
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
        subject: entry.subject.slice(0, 1024),
        sha256: sha256(entry.data),
        ...(path === undefined ? {} : { path: path.slice(0, 256) }),
        sentence: sentence.slice(0, 1000),
        at: this.#nowMs,
        fold: foldVersion,
      },
    });
  }

  arm(run: RunState, task: TaskState, epoch: EpochState, timer: TimerKind, deadlineMs: number): void {
    task.timers = { ...task.timers, [timer]: { epoch: epoch.epoch, deadlineMs } };
    this.outputs.push({ type: "timer", run: run.run, task: task.task, epoch: epoch.epoch, timer, deadlineMs });
  }

  cancel(run: RunState, task: TaskState, timer: TimerKind): void {
    const armed = task.timers[timer];
    if (armed === undefined) return;
    task.timers = Object.fromEntries(Object.entries(task.timers).filter(([kind]) => kind !== timer));
    this.outputs.push({ type: "timer-cancelled", run: run.run, task: task.task, timer, ...armed });
  }
}

function dropUndefined(extras: VerdictExtras): VerdictExtras {
  return Object.fromEntries(Object.entries(extras).filter(([, value]) => value !== undefined));
}

/** Digest of what makes a verdict a new one, as short text. Scope and reference follow from the rest. */
function contentOf(judgement: Judgement, epoch: number, { intent, inFlight, deadlineMs }: VerdictExtras): string {
  const { verdict, action, final, findings } = judgement;
  const parts = [epoch, verdict, action, final, findings.map(({ code, about }) => [code, about ?? null])];
  const keys = inFlight?.map(({ key }) => key) ?? null;
  const about = intent === undefined ? null : [intent.control, intent.kind, intent.hash];
  return hashText(sha256(encodeCanonical([parts, keys, deadlineMs ?? null, about])).subarray(0, 16));
}
