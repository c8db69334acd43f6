import {
  hex,
  type AdmittedOf,
  type Certificate,
  type Isolation,
  type Judge,
  type Mode,
  type Policy,
  type TimerKind,
} from "@candor/contract";
import { AuthorChain } from "./author-chain.js";
import { ClosedTasks } from "./closed-tasks.js";
import { initialDisclosure, type DisclosureState } from "./disclosure-state.js";
import type { DispatchState } from "./dispatch-state.js";
import { EffectLedger } from "./effect-ledger.js";
import type { Family, KeptFailure, TaskParent } from "./family.js";
import { initialControl, type ControlState } from "./intent.js";
import { keepKeys, type KeptKeys } from "./kept-keys.js";
import { keepBrief, Shared, type KeptBrief, type KeptScope } from "./kept.js";
import type { ResultBoard } from "./result-board.js";
import { initialRecall, untouchedRecall, type RecallState } from "./recall.js";
import type { UpstreamBook } from "./upstream-book.js";
import type { Trouble } from "./upstream-trouble.js";

/** What a judge said last on one epoch. */
export interface SpokenOfEpoch {
  readonly revision: number;
  readonly content: string;
}

/** What a judge said last of a task. */
export interface Spoken {
  readonly judge: Judge;
  /** Verdicts on its subject so far. */
  ordinal: number;
  epoch: number;
  revision: number;
  content: string;
  /** What another judge said: of most open tasks only one has spoken. */
  readonly next: Spoken | undefined;
}

/** One delegation of a task. */
export interface EpochState {
  readonly epoch: number;
  readonly actor: string;
  /** Deployment identity that certifies the task key. */
  readonly deployment: string;
  readonly brief: KeptBrief;
  /** Minted intent keys and what each stands for. */
  readonly minted: KeptKeys;
  /** Log sequence of the delegation, and its hash as `hashText`. */
  readonly seq: number;
  readonly hash: string;
  readonly chain: AuthorChain;
  readonly effects: EffectLedger;
  readonly disclosure: DisclosureState;
  /** Read it as it is; write to `ownRecall`. */
  recall: RecallState;
  taskKey: string | undefined;
  scope: KeptScope | undefined;
  mode: Mode;
  settled: boolean;
  /** What it went through at upstreams until its report; undefined if nothing is counted. */
  trouble: Trouble | undefined;
  /** What is known of the tasks that it delegated; see `ownFamily`. */
  family: Family | undefined;
  /** What it failed with, where its report says so and the log bears it out. */
  failure: KeptFailure | undefined;
  /** Only where the delegation states terms. */
  dispatch?: DispatchState;
}

export interface TaskState {
  readonly task: string;
  /** Undefined for a task of the run's own fleet. */
  readonly parent: TaskParent | undefined;
  readonly control: ControlState;
  current: EpochState | undefined;
  /** What each judge said last of it, in one list; see `lastSpoken`. */
  spoken: Spoken | undefined;
  /** Deadlines that are armed, by kind. */
  timers: Partial<Record<TimerKind, { readonly epoch: number; readonly deadlineMs: number }>>;
  /** Read it as it is; write to `ownPast`. */
  past: TaskPast;
}

/** What most open tasks do not have. */
interface TaskPast {
  /** Earlier epochs, for what arrives late under them. */
  readonly earlier: Map<number, EpochState>;
  /** Chains of probers, by epoch and prober. */
  readonly probers: Map<string, AuthorChain>;
  /** What a judge said last on an epoch other than the one it spoke on last, by judge and epoch. */
  readonly spoken: Map<string, SpokenOfEpoch>;
  /** Events of each actor since the task was closed. */
  readonly late: Map<string, number>;
}

function emptyPast(): TaskPast {
  return { earlier: new Map(), probers: new Map(), spoken: new Map(), late: new Map() };
}

const noPast: TaskPast = emptyPast();

/** The task's own past, made when there first is one. */
export function ownPast(task: TaskState): TaskPast {
  if (task.past === noPast) task.past = emptyPast();
  return task.past;
}

export interface RunState {
  readonly run: string;
  readonly fleet: string;
  readonly policy: Policy;
  readonly policyHash: Uint8Array;
  /** The same in hex, for checkpoints. */
  readonly policyText: string;
  readonly isolation: Isolation;
  readonly fleetKeys: Set<string>;
  readonly probers: Map<string, Set<string>>;
  /** Keys of sub-fleets, by fleet, task and epoch; undefined while no task has one. */
  subFleets: Map<string, string> | undefined;
  /** The run itself, task `_run`. */
  readonly self: TaskState;
  readonly tasks: Map<string, TaskState>;
  /** Closed tasks, as far as something late can be refused by it. */
  readonly closed: ClosedTasks;
  /** How the run's tasks used what they call; undefined until there is something to count. */
  upstreams: UpstreamBook | undefined;
  /** What tasks of this run have in common. */
  readonly shared: Shared;
  /** Results that can contradict each other, once there is one. */
  results: ResultBoard | undefined;
  /** Built from history for one late event, and dropped after it. */
  revived: boolean;
}

const noTimers: TaskState["timers"] = {};

export function initialTask(task: string, parent?: TaskParent): TaskState {
  return {
    task,
    parent,
    control: initialControl(),
    current: undefined,
    spoken: undefined,
    timers: noTimers,
    past: noPast,
  };
}

/** @param hash of the delegation, as `hashText` */
export function initialEpoch(entry: AdmittedOf<"delegate">, hash: string, shared: Shared): EpochState {
  const { agent, brief, intents } = entry.payload;
  return {
    epoch: entry.event.epoch,
    actor: shared.text(agent.actor),
    deployment: shared.text(agent.key),
    brief: shared.brief(keepBrief(brief)),
    minted: keepKeys(intents),
    seq: entry.seq,
    hash,
    chain: new AuthorChain(),
    effects: new EffectLedger(),
    disclosure: initialDisclosure(),
    recall: untouchedRecall,
    taskKey: undefined,
    scope: undefined,
    mode: "observe",
    settled: false,
    trouble: undefined,
    family: undefined,
    failure: undefined,
  };
}

/** @param policy of the opening, or the same one of an earlier run */
export function initialRun(entry: AdmittedOf<"run-open">, policy: Policy): RunState {
  const { policyHash, fleet, probers, isolation } = entry.payload;
  return {
    run: entry.event.run,
    fleet: fleet.name,
    policy,
    policyHash: Uint8Array.from(policyHash),
    policyText: hex(policyHash),
    isolation,
    fleetKeys: new Set([fleet.key]),
    probers: proberKeys(probers),
    subFleets: undefined,
    self: initialTask(entry.event.task),
    tasks: new Map(),
    closed: new ClosedTasks(),
    upstreams: undefined,
    shared: new Shared(),
    results: undefined,
    revived: false,
  };
}

/** The epoch's own recall state, made when there first is something to hold: most epochs are never stopped. */
export function ownRecall(epoch: EpochState): RecallState {
  if (epoch.recall === untouchedRecall) epoch.recall = initialRecall();
  return epoch.recall;
}

function proberKeys(certificates: readonly Certificate[]): Map<string, Set<string>> {
  const keys = new Map<string, Set<string>>();
  for (const { name, key } of certificates) keys.set(name, new Set([...(keys.get(name) ?? []), key]));
  return keys;
}
