import { CandorError } from "./errors.js";
import { isId, isTaskId } from "./identifiers.js";
import { eventKinds, judges, roles, type EventKind, type Judge, type Role } from "./vocabulary.js";

/** What an orchestrator's subjects say in place of the kind, so that all intents of a task meet on one subject. */
export const intentWord = "intent";
export type SubjectKind = EventKind | typeof intentWord;

export interface EventAddress {
  readonly role: Role;
  readonly actor: string;
  readonly run: string;
  readonly task: string;
  readonly kind: SubjectKind;
}

export interface StoredAddress extends EventAddress {
  readonly lane: number;
}

/** The word that stands for an event's kind in its subject. */
export function subjectKind(role: Role, kind: EventKind): SubjectKind {
  return role === "orch" ? intentWord : kind;
}

function check(address: EventAddress): void {
  const parts = { run: isId(address.run), task: isTaskId(address.task), actor: isId(address.actor) };
  for (const [part, good] of Object.entries(parts)) {
    if (!good) {
      throw new CandorError(
        "bad-argument",
        `${part} is no valid id: use 1–64 of A–Z a–z 0–9 _ -, not beginning with _.`,
        { path: part },
      );
    }
  }
}

/** Subject that an event is published on. @throws CandorError `bad-argument` for an invalid token. */
export function publishedSubject(address: EventAddress): string {
  check(address);
  return `candor.in.${address.role}.${address.actor}.${address.run}.${address.task}.${address.kind}`;
}

/** Subject that the log stores it under. @throws CandorError `bad-argument` for an invalid token. */
export function storedSubject(address: StoredAddress): string {
  check(address);
  return `candor.log.${address.lane}.${address.run}.${address.task}.${address.role}.${address.actor}.${address.kind}`;
}

/** The one stored subject on which all control intents of a task meet. */
export function intentSubject(at: { lane: number; run: string; task: string; fleet: string }): string {
  return storedSubject({ ...at, role: "orch", actor: at.fleet, kind: intentWord });
}

const kindWords: ReadonlySet<string> = new Set([...eventKinds, intentWord]);
const roleWords: ReadonlySet<string> = new Set(roles);
const judgeWords: ReadonlySet<string> = new Set(judges);

/** Reads a stored subject; undefined if it has another shape, role or kind. */
export function parseStoredSubject(subject: string): StoredAddress | undefined {
  const [candor, log, laneText, run, task, role, actor, kind, ...rest] = subject.split(".");
  if (candor !== "candor" || log !== "log" || rest.length > 0) return undefined;
  if (laneText === undefined || run === undefined || task === undefined || role === undefined) return undefined;
  if (actor === undefined || kind === undefined || !/^\d{1,5}$/.test(laneText)) return undefined;
  if (!isId(run) || !isTaskId(task) || !isId(actor) || !roleWords.has(role) || !kindWords.has(kind)) return undefined;
  return { lane: Number(laneText), run, task, role: role as Role, actor, kind: kind as SubjectKind };
}

export interface VerdictAddress {
  readonly lane: number;
  readonly run: string;
  readonly task: string;
  readonly judge: Judge;
}

export function verdictSubject(at: VerdictAddress): string {
  return `candor.vd.${at.lane}.${at.run}.${at.task}.${at.judge}`;
}

/** Reads a verdict's subject; undefined if it has another shape. */
export function parseVerdictSubject(subject: string): VerdictAddress | undefined {
  const [candor, vd, laneText, run, task, judge, ...rest] = subject.split(".");
  if (candor !== "candor" || vd !== "vd" || rest.length > 0 || laneText === undefined) return undefined;
  if (run === undefined || task === undefined || judge === undefined || !judgeWords.has(judge)) return undefined;
  return { lane: Number(laneText), run, task, judge: judge as Judge };
}

/** `actor` is the publisher's subject token as stored, so that the notice reaches it even when the body is garbage. */
export function quarantineSubject(at: { lane: number; actor: string; logSeq: number }): string {
  return `candor.quarantine.${at.lane}.${at.actor}.${at.logSeq}`;
}

export function checkpointSubject(lane: number): string {
  return `candor.checkpoint.${lane}`;
}

/** `live` subject under which a stored subject (log intent, verdict, quarantine, checkpoint) is republished. */
export function liveSubject(stored: string): string {
  return `candor.live.${stored.slice("candor.".length)}`;
}

/** `claim-<epoch>` before an effect runs, then `done`, or `void-<epoch>` where certainly nothing happened in that epoch. */
export function intentKeySubject(at: {
  actor: string;
  run: string;
  key: string;
  step: `claim-${number}` | `void-${number}` | "done";
}): string {
  return `candor.key.${at.actor}.${at.run}.${at.key}.${at.step}`;
}

export function dataKeySubject(at: { fleet: string; run: string }): string {
  return `$KV.CANDOR_DATA_KEYS.${at.fleet}.${at.run}`;
}

export function stateSubject(lane: number): string {
  return `candor.guard.state.${lane}`;
}

/** Names of the streams. */
export const streams = {
  log: "CANDOR_LOG",
  verdicts: "CANDOR_VERDICTS",
  keys: "CANDOR_KEYS",
  evidence: "CANDOR_EVIDENCE",
  dataKeys: "KV_CANDOR_DATA_KEYS",
} as const;

/** All guards publish timers under this one actor, so that a repeated timer has one subject. */
export const guardActor = "guard";
