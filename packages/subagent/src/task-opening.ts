import {
  equalBytes,
  intentSubject,
  verdictSubject,
  type Certificate,
  type Logger,
  type Mode,
  type Payload,
  type Scope,
} from "@candor/contract";
import { GuardRecords, type Signer } from "@candor/ledger";
import { storeAccept } from "./acceptance.js";
import { Control, rejected } from "./control.js";
import { readDelegation, requireStored, verifyDelegation, type Delegation } from "./delegation.js";
import { Dispatcher } from "./dispatcher.js";
import { Doubts } from "./doubts.js";
import { Effects } from "./effect.js";
import { mintedKeys } from "./effect-plan.js";
import { EvidenceBook } from "./evidence.js";
import { FaultLog } from "./fault-log.js";
import { Inheritance } from "./inheritance.js";
import { IntentKeys } from "./intent-keys.js";
import { LogWatch } from "./log-watch.js";
import type { TaskBus } from "./ports.js";
import { Prose } from "./prose.js";
import { Recorder } from "./recorder.js";
import { resume, settleKeys } from "./resumption.js";
import { defaultScope } from "./scope.js";
import { Spool } from "./spool/spool.js";
import { Stopping } from "./stopping.js";
import { Desk, TaskState } from "./task-state.js";
import type { TaskLimits } from "./task-limits.js";
import type { ApprovedAction, TaskBrief } from "./task-result.js";
import { SubagentTask } from "./task.js";

/** Who accepts tasks. */
export interface AgentIdentity {
  readonly name: string;
  /** Signer of the deployment identity. */
  readonly signer: Signer;
  /** The operator's word for it. */
  readonly certificate: Certificate;
  /** Public key text of the operator. */
  readonly operator: string;
}

export interface AcceptOptions {
  /** Whether effects without a minted key are refused (`enforce`, the default) or recorded as what they are. */
  readonly mode?: Mode;
  /** What the runtime sees; this SDK's own scope by default. An adapter states its own. */
  readonly scope?: Scope;
}

export interface OpeningContext {
  readonly identity: AgentIdentity;
  readonly bus: TaskBus;
  readonly spoolDir: string;
  readonly limits: TaskLimits;
  readonly logger: Logger;
}

/**
 * Accepts a delegated task, or takes it up again after a restart: checks whose word the delegation is, locks the task's
 * spool, follows the task's intents, and stores the acceptance or sends what an earlier process left unconfirmed.
 */
export async function openTask(context: OpeningContext, token: string, options: AcceptOptions): Promise<SubagentTask> {
  const { identity, bus, spoolDir } = context;
  const delegation = readDelegation(token, { name: identity.name, key: identity.signer.publicKey });
  const fleetKey = await verifyDelegation(delegation, identity.operator, bus);
  const records = new GuardRecords(identity.operator);
  await requireUnrejected(delegation, records, bus);
  const { run, task, epoch, hash } = delegation;
  const spool = Spool.open(spoolDir, { actor: identity.name, run, task, epoch, delegation: hash });
  const opening = new Opening(context, delegation, fleetKey, spool, options);
  try {
    return await opening.finish();
  } catch (error) {
    opening.release();
    throw error;
  }
}

/** @throws CandorError `log-altered`, `intent-rejected` */
async function requireUnrejected(delegation: Delegation, records: GuardRecords, bus: TaskBus): Promise<void> {
  requireStored(delegation, await bus.last("log", intentSubject(delegation)));
  const subject = verdictSubject({ ...delegation, judge: "intent" });
  const stored = await bus.last("verdicts", subject);
  if (stored === undefined) return;
  const { intent, verdict } = records.verdict(subject, stored.data).verdict;
  if (verdict !== "INTENT_REJECTED" || intent === undefined || !equalBytes(intent.hash, delegation.hash)) return;
  throw rejected(delegation.task);
}

class Opening {
  readonly #context: OpeningContext;
  readonly #delegation: Delegation;
  readonly #spool: Spool;
  readonly #mode: Mode;
  readonly #scope: Scope;
  readonly #state = new TaskState();
  readonly #prose: Prose;
  readonly #recorder: Recorder;
  readonly #control: Control;
  readonly #stopping: Stopping;
  readonly #keys: IntentKeys;
  readonly #ends: (() => void)[] = [];
  readonly #watch: LogWatch;
  #ready: () => void = () => undefined;

  constructor(context: OpeningContext, delegation: Delegation, fleetKey: string, spool: Spool, options: AcceptOptions) {
    const { identity, bus, limits, logger } = context;
    const { run, task, epoch, lane, fleet } = delegation;
    const { mode = "enforce" } = options;
    this.#context = context;
    this.#delegation = delegation;
    this.#spool = spool;
    this.#mode = mode;
    this.#scope = options.scope ?? defaultScope(mode);
    this.#prose = new Prose(delegation.dataKey);
    this.#ends.push(() => {
      spool.close();
    });
    const state = this.#state;
    const place = { lane, run, task, epoch, actor: identity.name };
    this.#recorder = new Recorder({
      place,
      bus,
      spool,
      onEvent: (seq, kind, payload, hash) => {
        state.observe(seq, kind, payload, hash);
      },
      limitMs: limits.flushMs,
      logger,
    });
    state.endReplay();
    this.#keys = new IntentKeys({
      bus,
      writer: { run, task, epoch, actor: identity.name },
      signer: { taskKey: spool.signer, deployment: identity.signer, certificate: identity.certificate },
      operator: identity.operator,
      logger,
    });
    this.#stopping = new Stopping({ recorder: this.#recorder, state, verdictMs: limits.verdictMs, logger });
    const ready = new Promise<void>((resolve) => (this.#ready = resolve));
    this.#control = new Control({
      bus,
      place: { lane, run, task, epoch },
      fleet: { name: fleet, key: fleetKey },
      records: new GuardRecords(identity.operator),
      delegation,
      maxGraceMs: delegation.payload.brief.maxGraceMs,
      verdictMs: limits.verdictMs,
      onStop: (stop) => {
        this.#stopping.answer(stop, this.#control, ready);
      },
      logger,
    });
    this.#watch = new LogWatch({
      bus,
      place,
      spool,
      recorder: this.#recorder,
      onFailure: (error) => {
        this.#control.fail(error);
        this.#recorder.fail(error);
      },
      onLoss: () => {
        settleKeys({ delegation, spool, state, keys: this.#keys }, true);
      },
      logger,
    });
    this.#ends.push(
      () => {
        this.#watch.close();
      },
      () => {
        this.#recorder.close();
      },
      () => {
        this.#keys.close();
      },
      () => {
        this.#control.close();
      },
    );
  }

  /** Gives back everything that is held, last things first. */
  release(): void {
    for (const end of this.#ends.splice(0).reverse()) {
      try {
        end();
      } catch (error) {
        // What comes after must be given back too, the spool's lock above all.
        this.#context.logger.warn({ error }, "something of a task could not be closed");
      }
    }
  }

  async finish(): Promise<SubagentTask> {
    const { identity } = this.#context;
    const { epoch, payload } = this.#delegation;
    const resumed = !this.#spool.content.isFresh;
    await this.#control.start();
    if (resumed) await this.#resume();
    else await this.#accept();
    this.#watch.start();
    const inheritance = await Inheritance.open(this.#keys, { actor: identity.name, epoch, delegation: payload });
    this.#ready();
    return this.#task(resumed, inheritance);
  }

  async #accept(): Promise<void> {
    const { identity, bus, limits } = this.#context;
    const { stop } = this.#control;
    if (stop?.state === "superseded" || stop?.state === "closed") this.#control.requireRunning();
    const facts = {
      delegation: this.#delegation,
      actor: identity.name,
      deployment: identity.signer,
      taskKey: this.#spool.signer.publicKey,
      scope: this.#scope,
      mode: this.#mode,
    };
    await storeAccept(this.#recorder, bus, facts, limits.dispatchMs);
  }

  async #resume(): Promise<void> {
    await resume({
      watch: this.#watch,
      delegation: this.#delegation,
      spool: this.#spool,
      recorder: this.#recorder,
      state: this.#state,
      keys: this.#keys,
      flushMs: this.#context.limits.flushMs,
    });
  }

  #task(resumed: boolean, inheritance: Inheritance): SubagentTask {
    const { limits, logger } = this.#context;
    const { run, task, epoch, payload, dataKey } = this.#delegation;
    const recorder = this.#recorder;
    const control = this.#control;
    const state = this.#state;
    const faults = new FaultLog(recorder, this.#prose, state);
    const desk = new Desk({
      control,
      faults,
      state,
      keyTasks: payload.brief.keyTasks,
      retryBudget: payload.brief.retryBudget,
      mode: this.#mode,
      failure: () => recorder.failure,
    });
    const { book } = state;
    const keys = this.#keys;
    const effects = new Effects({
      desk,
      recorder,
      book,
      keys,
      control,
      spool: this.#spool,
      dataKey,
      mode: this.#mode,
      minted: mintedKeys(payload.intents),
      inheritance,
      dispatcher: new Dispatcher({ desk, recorder, book, keys, control, dispatchMs: limits.dispatchMs, logger }),
      doubts: new Doubts({ recorder, book, inheritance, signal: () => control.cutSignal }),
      settleMs: limits.settleMs,
      logger,
    });
    const evidence = new EvidenceBook({
      port: this.#context.bus.evidence,
      actor: this.#context.identity.name,
      run,
      prose: this.#prose,
      calls: desk.calls,
      requireUnreported: () => {
        desk.requireUnreported();
      },
      dir: this.#context.spoolDir,
    });
    return new SubagentTask({
      id: { run, task, epoch },
      brief: openBrief(payload.brief, this.#prose),
      approved: openApproved(payload.intents, this.#prose),
      scope: this.#scope,
      resumed,
      recorder,
      control,
      stopping: this.#stopping,
      effects,
      evidence,
      state,
      keys: this.#keys,
      desk,
      prose: this.#prose,
      release: () => {
        this.release();
      },
      limits,
      logger,
    });
  }
}

function openApproved(intents: Payload<"delegate">["intents"], prose: Prose): ApprovedAction[] {
  return intents.flatMap(({ intent, planned }) =>
    planned === undefined ? [] : [{ intent, action: prose.open(planned.text) }],
  );
}

function openBrief({ title, instructions, ...rest }: Payload<"delegate">["brief"], prose: Prose): TaskBrief {
  return {
    ...rest,
    ...(title === undefined ? {} : { title: prose.open(title) }),
    ...(instructions === undefined ? {} : { instructions: prose.open(instructions) }),
  };
}
