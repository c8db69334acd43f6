import { CandorError, isCandorError, runTask, type Certificate, type Payload } from "@candor/contract";
import { approvalOf } from "./approval.js";
import { conflictsIn, type ResultConflict } from "./conflicts.js";
import { waitForDecision, type Decision } from "./decision.js";
import { delegateTask, type DelegateRequest } from "./delegate-task.js";
import { requireRole, type DelegateOptions, type Delegation } from "./delegation.js";
import { approvalAfter, confirmIntent } from "./judged-intent.js";
import { requireMs, requireOptions, requireText } from "./required.js";
import { readResult, type SubagentResult } from "./result.js";
import { asIntent, deadline, type RunContext } from "./run-context.js";
import { runEvidence, type RunEvidence } from "./run-evidence.js";
import type { ApproveOptions, Intent, RecallOptions, RedelegateOptions, TerminateOptions } from "./run-options.js";
import { RunRights } from "./run-rights.js";
import { requireStanding } from "./standing-rules.js";
import type { TaskState } from "./task-line.js";
import { openReport, type TaskReport } from "./task-report.js";
import { readVerdicts, type VerdictEntry } from "./verdict-reader.js";

/** One execution of a plan, as its orchestrator handles it. */
export class Run {
  readonly #context: RunContext;
  /** What bears the claims of this run's tasks out. */
  readonly evidence: RunEvidence;
  readonly #rights: RunRights;

  /** Made by `openRun` and `attach`. */
  constructor(context: RunContext) {
    this.#context = context;
    this.#rights = new RunRights(context);
    this.evidence = runEvidence(context.client.evidence, {
      run: context.id,
      fleet: context.fleet.name,
      seal: (text) => this.#rights.seal(text),
    });
  }

  get id(): string {
    return this.#context.id;
  }

  get lane(): number {
    return this.#context.lane;
  }

  /**
   * Gives a new task to an agent. The intent keys are minted here, before any attempt.
   *
   * @throws CandorError `intent-lost` if the task exists, `untrusted-key` for a certificate that is not the operator's for an
   *   agent, `bad-argument` or `malformed` for a brief that does not fit, `task-over` if this process closed the run
   */
  async delegate(options: DelegateOptions): Promise<Delegation> {
    requireOptions(options);
    try {
      return await this.#delegate({ task: options.task, options, next: () => ({ epoch: 1 }), isKnown: false });
    } catch (error) {
      if (!isCandorError(error, "intent-lost")) throw error;
      const text = `${error.message} If task ${options.task} was delegated before, use redelegate, or give the new task another id.`;
      throw new CandorError("intent-lost", text, { details: error.details, cause: error });
    }
  }

  /**
   * Gives a task to an agent anew, in its next epoch. What the epoch before still dispatches, the server refuses. An
   * intent of the same name keeps its key, so that nothing is done twice (F7).
   *
   * @throws CandorError as `delegate`, `not-found` for a task that was never delegated, `task-over` for a closed one
   */
  async redelegate(task: string, options: RedelegateOptions): Promise<Delegation> {
    requireOptions(options);
    return await this.#delegate({
      task,
      options,
      next: (standing) => {
        const { epoch } = requireStanding(task, "delegate", standing);
        return { epoch: epoch + 1, predecessor: { actor: options.predecessor ?? this.#agentOf(task, epoch), epoch } };
      },
      isKnown: true,
    });
  }

  /**
   * Asks the agent to stop. It may end what is under way within the window; it starts no new effect.
   *
   * @throws CandorError `intent-lost` with the winner in its details, `not-found`, `task-over`
   */
  async recall(task: string, options: RecallOptions): Promise<Intent> {
    requireOptions(options);
    const { graceMs, reason, notAfterMs } = options;
    requireMs(graceMs, "options.graceMs");
    requireText(reason, "options.reason");
    return await this.#change(task, "recall", "recalled", { graceMs, reason, ...deadline(notAfterMs) });
  }

  /**
   * Ends a task at once: there is no window, and every effect without an outcome counts as unknown.
   *
   * @throws CandorError `intent-lost` with the winner in its details, `not-found`, `task-over`
   */
  async terminate(task: string, options: TerminateOptions): Promise<Intent> {
    requireOptions(options);
    const { reason, force = false, notAfterMs } = options;
    requireText(reason, "options.reason");
    return await this.#change(task, "terminate", "terminated", { reason, force, ...deadline(notAfterMs) });
  }

  /**
   * Gives a person's leave (U3, U4): for planned actions of a report, for its result, for more re-dispatches, for more
   * authority. The guard rejects one that names another report or other actions: `confirm` tells.
   *
   * @throws CandorError `intent-lost` with the winner in its details, `not-found`, `task-over`, `malformed`
   */
  async approve(task: string, options: ApproveOptions): Promise<Intent> {
    requireOptions(options);
    requireText(options.person, "options.person");
    return await this.#change(task, "approve", "delegated", approvalOf(options));
  }

  /**
   * The report of the task's present epoch that the guard judged under the terms of its delegation, its prose opened.
   *
   * @returns undefined while the guard has judged none
   * @throws CandorError `not-found` if the last report there is another one, or the run's data key is erased
   */
  async report(task: string): Promise<TaskReport | undefined> {
    const { client, view, lane } = this.#context;
    requireText(task, "task");
    const { standing, verdicts } = view.task(task);
    const said = verdicts.find(({ judge, epoch }) => judge === "dispatch" && epoch === standing?.epoch);
    if (said?.report === undefined || said.actor === undefined) return undefined;
    const { report: hash, actor, epoch } = said;
    const last = await client.lastOfAgent({ lane, run: this.id, task }, actor, "report");
    return openReport(last, { task, epoch, actor, hash, dataKey: this.#rights.requireDataKey() });
  }

  /** Waits for an approval of the task that holds, whoever gave it, after the control number; undefined at the signal. */
  async approvalAfter(
    task: string,
    control: number,
    options: { readonly signal: AbortSignal },
  ): Promise<Payload<"approve"> | "overtaken" | undefined> {
    return await approvalAfter(this.#context, task, control, options.signal);
  }

  /**
   * Closes a task for good, with what became of its result.
   *
   * @param options.state `accepted`: its result is used; `rejected`: it is not; `cancelled`: nobody needs it any more
   * @throws CandorError `intent-lost` with the winner in its details, `not-found`, `task-over`
   */
  async closeTask(task: string, options: Pick<Payload<"close">, "state">): Promise<Intent> {
    requireOptions(options);
    requireText(options.state, "options.state");
    return await this.#change(task, "close", "closed", { state: options.state });
  }

  /**
   * Closes the run and forgets its data key. Verdicts can still be read, until `release`.
   *
   * @throws CandorError `intent-lost` with the winner in its details
   */
  async close(options: Payload<"run-close">): Promise<Intent> {
    const { writer, memory, id } = this.#context;
    requireOptions(options);
    requireText(options.state, "options.state");
    this.#rights.requireOpener();
    const issued = await writer.issue(runTask, "run-close", () => ({ epoch: 1, payload: { state: options.state } }));
    this.#rights.close();
    memory.forgetRun(id);
    return asIntent(issued);
  }

  /**
   * Trusts a further prober, from this intent's log time on. A fleet has the one key that its run was opened with, which
   * its replicas share: agents obey no other.
   *
   * @throws CandorError `untrusted-key` for a certificate that is not the operator's for a prober, `intent-lost`, `task-over`
   *   if this process closed the run
   */
  async addKey(certificate: Certificate): Promise<Intent> {
    this.#rights.requireOpener();
    requireRole(certificate, "probe", this.#context.operator);
    const payload = { certificate };
    return asIntent(await this.#context.writer.issue(runTask, "key-added", () => ({ epoch: 1, payload })));
  }

  /**
   * Ends the trust in a key, from this intent's log time on. What it signed before stays valid. Without the fleet's own
   * key the run takes no further intents.
   *
   * @throws CandorError `intent-lost`, `task-over` if this process closed the run
   */
  async revokeKey(key: string, reason: string): Promise<Intent> {
    this.#rights.requireOpener();
    const payload = { key, reason };
    return asIntent(await this.#context.writer.issue(runTask, "key-revoked", () => ({ epoch: 1, payload })));
  }

  /**
   * The verdicts on this run, each once, in order: all that were given after `from`, then as they come, until the signal.
   * Keep the `cursor` of the last one that is dealt with; a process that was away goes on from there.
   *
   * @throws CandorError `bad-argument` for a text that is no cursor, `log-rolled-back` if the verdict it names is gone,
   *   `server-failed` where the server refuses this reader for ten seconds
   */
  verdicts(
    options: { readonly from?: string; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<VerdictEntry, void, undefined> {
    return readVerdicts(this.#context, { lane: this.lane, run: this.id }, options);
  }

  /**
   * Waits until all judges of the task are final. It never waits longer than `timeoutMs`: then it says why (Q8).
   *
   * @param options.timeoutMs at least 100, which it takes to ask the guard how it stands
   */
  async decision(task: string, options: { readonly timeoutMs: number }): Promise<Decision> {
    const { client, view, writer, lane } = this.#context;
    requireText(task, "task");
    requireOptions(options);
    requireMs(options.timeoutMs, "options.timeoutMs");
    const port = {
      refresh: () => writer.refresh(task),
      view: () => view.task(task),
      changed: (signal: AbortSignal) => view.changed(task, signal),
      guardState: (timeoutMs: number) => client.guardState(lane, timeoutMs),
      isConnected: client.isConnected,
    };
    return await waitForDecision(port, options.timeoutMs);
  }

  /**
   * What the subagent of the task's present epoch handed back, once the guard has judged it; undefined before that, and
   * for a task without a report. Look at `decision` before anything is done with it.
   *
   * @throws CandorError `server-unreachable`, `log-rolled-back`
   */
  async result(task: string): Promise<SubagentResult | undefined> {
    const { client, view, lane, writer } = this.#context;
    requireText(task, "task");
    await writer.refresh(task);
    const { standing, verdicts } = view.task(task);
    const verdict = verdicts.find(({ judge, epoch }) => judge === "disclosure" && epoch === standing?.epoch);
    if (verdict === undefined) return undefined;
    return await readResult({ client, dataKey: this.#rights.dataKey }, { lane, run: this.id, task }, verdict);
  }

  /**
   * Results of this run that contradict each other, as the guard last said: pairs, what they are about, and the evidence to
   * open. At most the first twenty; the verdict (judge `result`, task `_run`) tells of all. A task in a pair has the conflict
   * among its `decision`.
   *
   * @throws CandorError `log-rolled-back` once the guards' records were found to be replaced
   */
  conflicts(): readonly ResultConflict[] {
    const { view } = this.#context;
    view.line(runTask);
    return conflictsIn(view.results);
  }

  /**
   * Waits for the guard's word on an intent.
   *
   * @throws CandorError `intent-rejected` with the findings in its details, `undecided` if nothing came in `timeoutMs`
   */
  async confirm(intent: Intent, options: { readonly timeoutMs: number }): Promise<void> {
    requireOptions(options);
    requireMs(options.timeoutMs, "options.timeoutMs");
    await confirmIntent(this.#context, intent, options.timeoutMs);
  }

  /** Seals prose under the run's data key (Q5). @throws CandorError `not-found` once that is erased or the run is closed */
  seal(text: string): Uint8Array {
    return this.#rights.seal(text);
  }

  /** Stops following the run in this process; the run itself goes on. */
  release(): void {
    this.#rights.forgetKey();
    this.#context.release();
  }

  async #delegate(request: DelegateRequest): Promise<Delegation> {
    this.#rights.requireOpen();
    return await delegateTask(this.#context, this.#rights.requireDataKey(), request);
  }

  async #change<K extends "recall" | "terminate" | "approve" | "close">(
    task: string,
    kind: K,
    state: TaskState,
    rest: Omit<Payload<K>, "standing">,
  ): Promise<Intent> {
    this.#rights.requireOpen();
    const issued = await this.#context.writer.issue(task, kind, (standing) => {
      const { epoch } = requireStanding(task, kind, standing);
      return { epoch, payload: { standing: { epoch, state }, ...rest } as unknown as Payload<K> };
    });
    return asIntent(issued);
  }

  #agentOf(task: string, epoch: number): string {
    const known = this.#context.view.agentOf(task, epoch);
    if (known !== undefined) return known;
    throw new CandorError(
      "bad-argument",
      `No guard has judged epoch ${epoch} of task ${task} yet, and another process delegated it: name its agent as the predecessor.`,
      { path: "predecessor" },
    );
  }
}
