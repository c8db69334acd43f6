import {
  hex,
  runTask,
  type AdmittedEvent,
  type AdmittedOf,
  type EventKind,
  type LogEntry,
  type PropagatedFailure,
} from "@candor/contract";
import { concerns, decision } from "@candor/guards";
import { decidingVerdict } from "@candor/orchestrator";
import { prose, type ProseKey } from "./prose.js";
import type { PublishedVerdict, RunLog } from "./run-log.js";
import { sentenceOf } from "./sentence.js";

/** One message of the log, for people. */
export interface StoryLine {
  /** Sequence in the log. */
  readonly seq: number;
  /** Log time in ms. */
  readonly atMs: number;
  readonly epoch: number;
  readonly actor: string;
  /** Number in its author's chain, or control number. */
  readonly number: number;
  readonly kind: EventKind | "refused";
  readonly what: string;
  readonly hash?: string;
}

export interface EpochStory {
  readonly epoch: number;
  readonly agent: string;
  readonly title?: string;
  readonly instructions?: string;
  readonly events: number;
  readonly errors: number;
  readonly retries: number;
  readonly effects: number;
  readonly claim?: string;
  readonly finishReason?: string;
}

export interface TaskStory {
  readonly run: string;
  readonly task: string;
  readonly lane: number;
  readonly fleet: string | undefined;
  /** Where the task stands after the last intent: delegated, recalled, terminated or closed. */
  readonly standing: string | undefined;
  /** What to do, as the judges of the last epoch say. */
  readonly action: string | undefined;
  readonly final: boolean;
  /** Judge and verdict that the action comes from; the others are among `verdicts`. */
  readonly decidedBy: Pick<PublishedVerdict, "judge" | "verdict"> | undefined;
  readonly epochs: readonly EpochStory[];
  /** What it failed with, and how that came up to here; undefined if no guard says that it failed. */
  readonly failure: PropagatedFailure | undefined;
  /** Everything stored of the task, in log order. */
  readonly log: readonly StoryLine[];
  readonly verdicts: readonly PublishedVerdict[];
  /** Whether prose could be opened. */
  readonly prose: ProseKey["state"];
}

function is<K extends EventKind>(entry: LogEntry, kind: K): entry is AdmittedEvent & AdmittedOf<K> {
  return entry.type === "event" && entry.kind === kind;
}

/** One entry of the log as a line. */
export function lineOf(entry: LogEntry, key: ProseKey): StoryLine {
  const { seq, timeMs: atMs } = entry;
  if (entry.type === "refused") {
    const { code, path, actorToken: actor } = entry;
    const what = `${code}${path === undefined ? "" : ` at ${path}`}`;
    return { seq, atMs, epoch: 0, actor, number: 0, kind: "refused", what };
  }
  const { epoch, actor, seq: number } = entry.event;
  return { seq, atMs, epoch, actor, number, kind: entry.kind, what: sentenceOf(entry, key), hash: hex(entry.hash) };
}

function taskOf(entry: LogEntry): string {
  return entry.type === "event" ? entry.event.task : (entry.subject.split(".")[4] ?? "");
}

function epochStory(
  entry: AdmittedEvent & AdmittedOf<"delegate">,
  entries: readonly LogEntry[],
  key: ProseKey,
): EpochStory {
  const { epoch } = entry.event;
  const { agent, brief } = entry.payload;
  const own = entries.filter(
    (one): one is AdmittedEvent => one.type === "event" && one.event.role === "agent" && one.event.epoch === epoch,
  );
  const count = (kind: EventKind): number => own.filter((one) => one.kind === kind).length;
  const report = own.find((one) => is(one, "report"));
  const [title, instructions] = [prose(brief.title, key), prose(brief.instructions, key)];
  return {
    epoch,
    agent: agent.actor,
    ...(title === undefined ? {} : { title }),
    ...(instructions === undefined ? {} : { instructions }),
    events: own.length,
    errors: count("error"),
    retries: count("retry"),
    effects: own.filter((one) => is(one, "effect") && one.payload.phase === "dispatched").length,
    ...(report !== undefined && is(report, "report")
      ? { claim: report.payload.claim, finishReason: report.payload.finishReason }
      : {}),
  };
}

/** The standing that the last accepted intent restates. */
function standingOf(entries: readonly LogEntry[], verdicts: readonly PublishedVerdict[]): string | undefined {
  const accepted = new Set(
    verdicts
      .filter(({ verdict }) => verdict === "INTENT_ACCEPTED")
      .map(({ intent }) => (intent === undefined ? "" : hex(intent.hash))),
  );
  const last = entries
    .filter((entry): entry is AdmittedEvent => entry.type === "event" && accepted.has(hex(entry.hash)))
    .at(-1);
  if (last === undefined || !("standing" in last.payload)) return undefined;
  return last.payload.standing.state;
}

/** What became of one task, from what the streams hold. */
export function tellTask({ run, lane, entries, verdicts, key }: RunLog, task: string): TaskStory {
  const own = entries.filter((entry) => taskOf(entry) === task);
  // Of the run's results together, what was said last counts.
  const results = verdicts.filter((verdict) => verdict.task === runTask && verdict.judge === "result").at(-1);
  const judged = verdicts.filter(
    (verdict) => verdict.task === task || (verdict === results && concerns(verdict, task)),
  );
  const epochs = own.filter((entry) => is(entry, "delegate")).map((entry) => epochStory(entry, own, key));
  const epoch = epochs.at(-1)?.epoch ?? 0;
  const decided = decision(judged, epoch);
  const deciding = decidingVerdict(decided?.verdicts ?? []);
  const opening = entries.find((entry) => is(entry, "run-open"));
  return {
    run,
    task,
    lane,
    fleet: opening?.type === "event" ? opening.event.actor : undefined,
    standing: standingOf(own, judged),
    action: decided?.action,
    final: decided?.final ?? false,
    decidedBy: deciding === undefined ? undefined : { judge: deciding.judge, verdict: deciding.verdict },
    epochs,
    failure: judged.filter(({ judge, epoch: of }) => judge === "disclosure" && of === epoch).at(-1)?.failure,
    log: own.map((entry) => lineOf(entry, key)),
    verdicts: judged,
    prose: key.state,
  };
}

/** Ids of the tasks of a run, in the order in which they appear. */
export function tasksOf({ entries }: RunLog): readonly string[] {
  return [...new Set(entries.map(taskOf))].filter((task) => task !== runTask && task !== "");
}
