import { setTimeout as pause } from "node:timers/promises";
import { laneOf, type GuardRecord, type StoredMessage } from "@candor/contract";
import { createLogCheck, type ChainFinding, type Checkpoint, type LogFinding } from "@candor/ledger";
import type { AuditSource, StreamEnd } from "./audit-source.js";
import { compareRecords, type BeyondRecord, type Comparison, type Count } from "./comparison.js";
import type { AuditFinding } from "./finding.js";
import { PublishedRecords, type Published } from "./published.js";
import { placeOf } from "./record-place.js";
import { Replay, type Expected } from "./replay.js";

export interface AuditOptions {
  readonly source: AuditSource;
  /** Public key of the operator: the only thing that is trusted. */
  readonly operator: string;
  /** The run whose verdicts are compared; those of all runs without it. The log is checked whole either way. */
  readonly run?: string | undefined;
  /** The task of that run; all of them without it. */
  readonly task?: string | undefined;
  /** Told now and then, for people, how far it is. */
  readonly onProgress?: (what: string) => void;
}

export interface AuditReport {
  /** What is wrong with the log first, in its order; then what is wrong with the records. */
  readonly findings: readonly AuditFinding[];
  /** What is wrong within authors' own chains. By itself it does not speak against the log: authors can do that too. */
  readonly chains: readonly ChainFinding[];
  readonly counts: Readonly<Record<GuardRecord, Count>>;
  readonly log: {
    readonly messages: number;
    readonly lastSeq: number;
    /** Messages that are no events. */
    readonly refused: number;
    /** How many checkpoints it was compared with. */
    readonly checkpoints: number;
  };
  /** Entries that were folded: those of the task or the run, or all. */
  readonly entries: number;
  readonly runs: number;
  /** Names of the guards that signed what was read. */
  readonly guards: readonly string[];
}

const laneToken = 2;
const tellEvery = 10_000;
/** How long a guard that runs may take to judge the last entries. */
const patienceMs = 5_000;

function tokensOf(subject: string): readonly string[] {
  return subject.split(".");
}

function recordFilter({ run, task, source }: AuditOptions): (subject: string) => boolean {
  const lane = run === undefined ? undefined : String(laneOf(run, source.lanes));
  return (subject) => {
    const [, kind, ofLane, ofRun, ofTask] = tokensOf(subject);
    if (kind === "quarantine") return lane === undefined || ofLane === lane;
    return kind === "vd" && (run === undefined || ofRun === run) && (task === undefined || ofTask === task);
  };
}

/** A quarantine record's subject does not say its run; what it is about does. */
function ofRunAndTask(
  records: ReadonlyMap<string, readonly Published[]>,
  { run, task }: AuditOptions,
): Map<string, readonly Published[]> {
  const isWanted = (record: Published): boolean => {
    if (record.kind === "verdict") return true;
    const place = placeOf(record);
    return (run === undefined || place.run === run) && (task === undefined || place.task === task);
  };
  const kept = [...records].map(([subject, list]) => [subject, list.filter(isWanted)] as const);
  return new Map(kept.filter(([, list]) => list.length > 0));
}

/** By lane, how far guards have vouched that everything they said is stored. */
function judgedUpTo(checkpoints: readonly Checkpoint[]): Map<number, number> {
  const furthest = new Map<number, number>();
  for (const { lane, position } of checkpoints) furthest.set(lane, Math.max(position, furthest.get(lane) ?? 0));
  return furthest;
}

/** Tells of a stream's messages now and then. */
function counter(what: string, tell: (text: string) => void): (count: number) => void {
  let [seen, told] = [0, 0];
  return (count) => {
    seen += count;
    if (seen - told < tellEvery) return;
    told = seen;
    tell(`${seen} ${what}`);
  };
}

/**
 * Checks a log against its checkpoints, replays it through the guards' own fold, and compares the result with every
 * published record, byte for byte (B8, B9). It trusts the operator's public key and nothing else.
 *
 * @throws CandorError of the source, where nothing can be read at all
 */
export async function auditRun(options: AuditOptions): Promise<AuditReport> {
  const { source, operator, run, task, onProgress = () => undefined } = options;
  const published = new PublishedRecords(operator, recordFilter(options));
  const countRecords = counter("records of guards read", onProgress);
  const readRecords = async (from: number): Promise<StreamEnd> => {
    const end = await source.readRecords(from, (batch) => {
      for (const message of batch) published.take(message);
      countRecords(batch.length);
      return undefined;
    });
    published.skipTo(end.lastSeq);
    return end;
  };
  let records = await readRecords(1);

  const check = createLogCheck(published.checkpoints);
  const expected = new Map<string, Expected[]>();
  const replay = new Replay({
    operator,
    run,
    task,
    history: (...at) => source.history(...at),
    onRecord: (record) => {
      const ofTask = record.kind === "verdict" ? tokensOf(record.subject)[4] : placeOf(record).task;
      if (task !== undefined && ofTask !== task) return;
      const list = expected.get(record.subject) ?? [];
      list.push(record);
      expected.set(record.subject, list);
    },
  });
  const countEvents = counter("messages of the log folded", onProgress);
  const foldOne = (message: StoredMessage): Promise<void> | undefined => {
    check.add(message);
    const lane = Number(tokensOf(message.subject)[laneToken]);
    // What lies under a foreign subject is a finding of the check; there is no lane to fold it in.
    return Number.isInteger(lane) ? replay.take(message, lane) : undefined;
  };
  const end = await source.readLog((batch) => {
    countEvents(batch.length);
    return foldInTurn(batch, foldOne);
  });
  const { lastSeq } = end;
  const log = check.end(lastSeq);

  const checkpoints = published.checkpoints.length;
  const compareNow = async (): Promise<Comparison> => {
    const more = await readRecords(records.lastSeq + 1);
    records = { ...records, lastSeq: Math.max(records.lastSeq, more.lastSeq) };
    return compareRecords(expected, ofRunAndTask(published.bySubject, options), {
      judgedUpTo: judgedUpTo(published.checkpoints),
      lastSeq,
    });
  };
  // What guards say of the last entries may have come while the log was read, or be about to come.
  let comparison = await compareNow();
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline && (await anyGuarded(source, comparison.unjudged))) {
    onProgress("waiting for the guard to judge the last entries");
    await pause(100);
    comparison = await compareNow();
  }
  const { findings, counts } = comparison;
  const gone = await judgedButGone(source, comparison.beyond);
  return {
    findings: [
      ...lossOf("log-truncated", "the log", end),
      ...log.findings.map(({ code, lane, seq, sentence }) => ({ code, lane, seq, sentence })),
      ...rollbackOf(gone, log.findings),
      ...lossOf("verdict-missing", "the verdict stream", records),
      ...published.findings,
      ...findings,
    ],
    chains: log.chains,
    // They are published, and no log brings them forth.
    counts: {
      verdict: withMore(counts.verdict, gone, "verdict"),
      quarantine: withMore(counts.quarantine, gone, "quarantine"),
    },
    log: { messages: log.messages, lastSeq, refused: log.refused, checkpoints },
    entries: replay.entries,
    runs: replay.runs,
    guards: [...published.guards].sort(),
  };
}

async function anyGuarded(source: AuditSource, lanes: ReadonlySet<number>): Promise<boolean> {
  const guarded = await Promise.all([...lanes].map((lane) => source.isGuarded(lane)));
  return guarded.includes(true);
}

interface Gone {
  readonly records: readonly BeyondRecord[];
  /** Last sequence of the log. */
  readonly end: number;
}

/**
 * A guard judges only what is stored: what it judged and the log does not have any more was rolled back. What was stored and
 * judged since the log was read is not among it.
 */
async function judgedButGone(source: AuditSource, beyond: readonly BeyondRecord[]): Promise<Gone> {
  if (beyond.length === 0) return { records: [], end: 0 };
  const end = await source.logEnd();
  return { records: beyond.filter(({ seq }) => seq > end), end };
}

function withMore({ reproduced, all }: Count, { records }: Gone, kind: GuardRecord): Count {
  return { reproduced, all: all + records.filter((record) => record.kind === kind).length };
}

function rollbackOf({ records, end }: Gone, known: readonly LogFinding[]): AuditFinding[] {
  const furthest = new Map<number, number>();
  for (const { lane, seq } of records) furthest.set(lane, Math.max(seq, furthest.get(lane) ?? 0));
  return [...furthest]
    .filter(([lane]) => !known.some((finding) => finding.lane === lane))
    .map(([lane, seq]) => ({
      code: "log-rolled-back",
      lane,
      seq,
      sentence: `Lane ${lane}, sequence ${seq}: a guard judged it, and the log ends at ${end}.`,
    }));
}

/** The server says so itself, once, when it starts on a damaged store. */
function lossOf(
  code: "log-truncated" | "verdict-missing",
  what: string,
  { lastSeq, lostBytes }: StreamEnd,
): AuditFinding[] {
  if (lostBytes === 0) return [];
  const sentence = `The server dropped ${lostBytes} bytes of ${what} when it recovered it: it ends at ${lastSeq} now.`;
  return [{ code, lane: undefined, seq: code === "log-truncated" ? lastSeq + 1 : undefined, sentence }];
}

/** Folds a batch; it waits only where a message needs it, since almost none does. */
function foldInTurn(
  batch: readonly StoredMessage[],
  foldOne: (message: StoredMessage) => Promise<void> | undefined,
): Promise<void> | undefined {
  for (const [index, message] of batch.entries()) {
    const waiting = foldOne(message);
    if (waiting !== undefined) return waiting.then(() => foldInTurn(batch.slice(index + 1), foldOne));
  }
  return undefined;
}
