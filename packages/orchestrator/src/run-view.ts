import {
  equalBytes,
  parseStoredSubject,
  runTask,
  type CandorError,
  type Finding,
  type QuarantineBody,
  type VerdictBody,
} from "@candor/contract";
import { concerns } from "@candor/guards";
import {
  emptyLine,
  standingOf,
  withJudgement,
  withRefusal,
  withStored,
  type Standing,
  type StoredIntent,
  type TaskLine,
} from "./task-line.js";

/** A task as its verdicts and intents, so far seen, show it. */
export interface TaskView {
  readonly line: TaskLine;
  readonly standing: Standing | undefined;
  /** The latest verdict of each judge on each epoch: what is said of one epoch is not undone by another. */
  readonly verdicts: readonly VerdictBody[];
}

interface Entry {
  line: TaskLine;
  /** By judge and epoch; of judge `intent` the latest alone. */
  readonly latest: Map<string, VerdictBody>;
  /** Agent of each epoch; a guard's word on it goes before what was only sent. */
  readonly agents: Map<number, { readonly name: string; readonly isJudged: boolean }>;
  readonly waiters: Set<() => void>;
}

/** What an orchestrator knows of one run, put together from its own intents and the guards' records. */
export class RunView {
  readonly #tasks = new Map<string, Entry>();
  #policyHash: Uint8Array | undefined;
  #fault: CandorError | undefined;

  /** Hash of the policy that the run's verdicts name; undefined before the first. */
  get policyHash(): Uint8Array | undefined {
    return this.#policyHash;
  }

  /** @throws CandorError `log-rolled-back` once the guards' records were found to be replaced */
  line(task: string): TaskLine {
    if (this.#fault !== undefined) throw this.#fault;
    return this.#tasks.get(task)?.line ?? emptyLine;
  }

  /** @throws CandorError `log-rolled-back` once the guards' records were found to be replaced */
  task(task: string): TaskView {
    const line = this.line(task);
    const entry = this.#tasks.get(task);
    const ofRun = this.results === undefined || !concerns(this.results, task) ? [] : [this.results];
    return { line, standing: standingOf(line), verdicts: [...(entry?.latest.values() ?? []), ...ofRun] };
  }

  /** What the run's results come to together; undefined while nothing was said of it. */
  get results(): VerdictBody | undefined {
    return this.#tasks.get(runTask)?.latest.get("result/0");
  }

  stored(task: string, intent: StoredIntent): void {
    const entry = this.#entry(task);
    entry.line = withStored(entry.line, intent);
    const { agent, epoch } = intent;
    if (agent !== undefined && entry.agents.get(epoch)?.isJudged !== true) {
      entry.agents.set(epoch, { name: agent, isJudged: false });
    }
    wake(entry);
  }

  verdict(body: VerdictBody): void {
    this.#policyHash ??= body.policy.slice();
    const entry = this.#entry(body.task);
    if (body.judge === "intent") entry.line = withJudgement(entry.line, body);
    entry.latest.set(body.judge === "intent" ? body.judge : `${body.judge}/${body.epoch}`, body);
    if (body.actor !== undefined) entry.agents.set(body.epoch, { name: body.actor, isJudged: true });
    wake(entry);
    if (body.task === runTask) for (const other of this.#tasks.values()) wake(other);
  }

  quarantine(body: QuarantineBody): void {
    const task = parseStoredSubject(body.subject)?.task;
    if (task === undefined) return;
    const entry = this.#entry(task);
    entry.line = withRefusal(entry.line, body.seq);
    wake(entry);
  }

  /** Nothing that is known here counts any more. */
  fail(fault: CandorError): void {
    this.#fault = fault;
    for (const entry of this.#tasks.values()) wake(entry);
  }

  /** Name of the agent that holds, or held, an epoch of a task. */
  agentOf(task: string, epoch: number): string | undefined {
    return this.#tasks.get(task)?.agents.get(epoch)?.name;
  }

  /** What a verdict of judge `intent` found; empty if the latest one is about another intent. */
  findings(task: string, hash: Uint8Array): readonly Finding[] {
    const verdict = this.#tasks.get(task)?.latest.get("intent");
    return verdict?.intent !== undefined && equalBytes(verdict.intent.hash, hash) ? verdict.findings : [];
  }

  /** Resolves when something new is known of the task, or when the signal says so. */
  changed(task: string, signal: AbortSignal): Promise<void> {
    const { waiters } = this.#entry(task);
    return new Promise((resolve) => {
      const done = (): void => {
        waiters.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      if (signal.aborted) {
        resolve();
        return;
      }
      waiters.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #entry(task: string): Entry {
    let entry = this.#tasks.get(task);
    if (entry === undefined) {
      entry = { line: emptyLine, latest: new Map(), agents: new Map(), waiters: new Set() };
      this.#tasks.set(task, entry);
    }
    return entry;
  }
}

function wake({ waiters }: Entry): void {
  for (const done of [...waiters]) done();
}
