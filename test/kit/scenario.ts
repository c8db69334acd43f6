import {
  completionConfidence,
  defaultPolicy,
  encodeBody,
  encodeFrame,
  encodePayload,
  errorLogReceiptOf,
  eventHash,
  guardActor,
  kindTable,
  policyHash,
  runTask,
  storedSubject,
  subjectKind,
  Tally,
  taskKeyMessage,
  unseenRetryLayers,
  zeroHash,
  type Brief,
  type EffectPhase,
  type EventKind,
  type Finality,
  type LogEntry,
  type Mode,
  type Payload,
  type Policy,
  type QuarantineBody,
  type Scope,
  type StoredMessage,
  type VerdictBody,
} from "@candor/contract";
import { LaneFold, type Output, type TimerRequest } from "@candor/guards";
import { admit, createSeed, createSigner, issueCertificate, verifySignature, type Signer } from "@candor/ledger";

export const plainBrief: Brief = {
  keyTasks: ["work"],
  critical: false,
  directlyVerifiable: false,
  retryBudget: 5,
  authority: [],
  needs: [],
};

export const fullScope: Scope = {
  dimensions: {
    toolCalls: "enforced",
    toolErrors: "enforced",
    modelAttempts: "observed",
    transportAttempts: "observed",
    effects: "enforced",
    abort: "enforced",
    children: "observed",
  },
  adapter: "kit",
};

interface Author {
  seq: number;
  head: Uint8Array;
  readonly tally: Tally;
  readonly effects: Map<number, Payload<"report">["effects"][number]>;
  signer: Signer | undefined;
}

/** Where an event stands in its author's chain, and who signs it. */
interface Placed {
  readonly task: string;
  readonly actor: string;
  readonly epoch: number;
  readonly seq: number;
  readonly prev: Uint8Array;
  readonly signer?: Signer | undefined;
  /** Publishes it under another task than the body names. */
  readonly subjectTask?: string;
}

interface DelegateOptions {
  readonly brief?: Partial<Brief>;
  readonly intents?: readonly string[];
  readonly actor?: string;
  readonly key?: string;
}

interface StopOptions {
  readonly graceMs?: number;
  readonly bend?: { seq?: number; prev?: Uint8Array; epoch?: number; actor?: string; signer?: Signer | undefined };
}

interface AcceptOptions {
  readonly scope?: Scope;
  readonly mode?: Mode;
  readonly actor?: string;
}

interface ErrorOptions {
  readonly attempt?: number;
  readonly reasons?: readonly number[];
  readonly recovered?: boolean;
  readonly finality?: Finality;
}

const lane = 0;
export const operator = createSigner(createSeed());
const fleet = createSigner(createSeed());
const stranger = createSigner(createSeed());
const deployment = createSigner(createSeed());
const prober = createSigner(createSeed());

export const keys = { operator, fleet, stranger, deployment, prober } as const;

/**
 * Given, when, then for a lane: builds the signed log of one run as honest parties would, lets a test bend any part
 * of it, and folds it. Time passes only when a test says so.
 */
export class Scenario {
  readonly log: StoredMessage[] = [];
  readonly verdicts: VerdictBody[] = [];
  readonly quarantined: QuarantineBody[] = [];
  readonly timers: TimerRequest[] = [];
  fold = new LaneFold(lane, { operator: operator.publicKey });
  nowMs = 1_700_000_000_000;
  /** Hash of the event that was made last. */
  lastHash: Uint8Array = zeroHash;
  readonly #run: string;
  readonly #policy: Policy;
  readonly #authors = new Map<string, Author>();
  readonly #controls = new Map<string, { control: number; hash: Uint8Array; epoch: number }>();

  constructor({ run = "r1", policy = {} }: { run?: string; policy?: Partial<Policy> } = {}) {
    this.#run = run;
    this.#policy = { ...defaultPolicy, ...policy };
  }

  /** Stores bytes as the log would and folds them. */
  store(subject: string, data: Uint8Array): Output[] {
    const message: StoredMessage = { seq: this.log.length + 1, timeMs: this.nowMs, subject, data };
    this.log.push(message);
    return this.foldEntry(admit(message));
  }

  foldEntry(entry: LogEntry): Output[] {
    const need = this.fold.needsHistory(entry);
    if (need !== undefined) {
      const history = this.log
        .filter(({ seq }) => seq < entry.seq)
        .map(admit)
        .filter((past) => past.type === "event" && past.event.run === need.run)
        .filter((past) => past.type === "event" && [runTask, need.task].includes(past.event.task));
      this.fold.revive(need, history, verifySignature);
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
    const { subject, data, hash } = this.#encode(kind, payload, at);
    return { outputs: this.store(subject, data), hash };
  }

  /** @param certifier who vouches for the fleet; the operator, unless a test says otherwise */
  open(certifier: Signer = operator): this {
    const fleetCertificate = issueCertificate(certifier, { role: "orch", name: "fleet", key: fleet.publicKey });
    const proberCertificate = issueCertificate(operator, { role: "probe", name: "prober", key: prober.publicKey });
    this.intent(runTask, "run-open", {
      policy: this.#policy,
      policyHash: policyHash(this.#policy),
      fleet: fleetCertificate,
      probers: [proberCertificate],
      operator: operator.publicKey,
      isolation: "separate-process",
    });
    return this;
  }

  /** Publishes the next intent of a task, or one with a bent header. */
  intent<K extends EventKind>(
    task: string,
    kind: K,
    payload: Payload<K>,
    bend: NonNullable<StopOptions["bend"]> = {},
  ): Output[] {
    const control = this.#controls.get(task) ?? { control: 0, hash: zeroHash, epoch: task === runTask ? 1 : 0 };
    const epoch = kind === "delegate" ? control.epoch + 1 : control.epoch;
    const { outputs, hash } = this.event(kind, payload, {
      task,
      actor: "fleet",
      epoch,
      seq: control.control + 1,
      prev: control.hash,
      signer: fleet,
      ...bend,
    });
    const held = outputs.some((output) => output.type === "verdict" && output.body.verdict === "INTENT_ACCEPTED");
    if (held) this.#controls.set(task, { control: control.control + 1, hash, epoch });
    return outputs;
  }

  epochOf(task: string): number {
    return this.#controls.get(task)?.epoch ?? 0;
  }

  controlOf(task: string): number {
    return this.#controls.get(task)?.control ?? 0;
  }

  hashOfLastIntent(task: string): Uint8Array {
    return this.#controls.get(task)?.hash ?? zeroHash;
  }

  delegate(
    task = "t1",
    { brief = {}, intents = [], actor = "agent", key = deployment.publicKey }: DelegateOptions = {},
  ): this {
    this.intent(task, "delegate", {
      standing: { epoch: this.epochOf(task) + 1, state: "delegated" },
      agent: { actor, key },
      brief: { ...plainBrief, ...brief },
      intents: intents.map((intent) => ({ intent, key: `key-${intent}` })),
      policyHash: policyHash(this.#policy),
    });
    return this;
  }

  stop(task: string, kind: "recall" | "terminate", { graceMs = 10_000, bend = {} }: StopOptions = {}): Output[] {
    const epoch = this.epochOf(task);
    if (kind === "recall") {
      return this.intent(task, "recall", { standing: { epoch, state: "recalled" }, graceMs, reason: "test" }, bend);
    }
    return this.intent(
      task,
      "terminate",
      { standing: { epoch, state: "terminated" }, reason: "test", force: true },
      bend,
    );
  }

  close(task: string): Output[] {
    const epoch = this.epochOf(task);
    return this.intent(task, "close", { standing: { epoch, state: "closed" }, state: "accepted" });
  }

  author(task: string, actor = "agent", epoch = this.epochOf(task)): Author {
    const name = `${task}/${String(epoch)}/${actor}`;
    let author = this.#authors.get(name);
    if (author === undefined) {
      author = { seq: 1, head: zeroHash, tally: new Tally(), effects: new Map(), signer: createSigner(createSeed()) };
      this.#authors.set(name, author);
    }
    return author;
  }

  accept(task = "t1", { scope = fullScope, mode = "enforce", actor = "agent" }: AcceptOptions = {}): this {
    const author = this.author(task, actor);
    const taskKey = (author.signer as Signer).publicKey;
    const epoch = this.epochOf(task);
    const certificate = deployment.sign(taskKeyMessage({ run: this.#run, task, epoch, actor, taskKey }));
    this.agent(
      task,
      "accept",
      { taskKey, certificate, delegation: this.hashOfLastIntent(task), scope, mode },
      { actor },
    );
    return this;
  }

  /** Makes the agent's next event without storing it. The author's own books go on as if it had been. */
  record<K extends EventKind>(
    task: string,
    kind: K,
    payload: Payload<K>,
    { actor = "agent", epoch = this.epochOf(task) } = {},
  ) {
    const author = this.author(task, actor, epoch);
    const at = {
      task,
      actor,
      epoch,
      seq: author.seq,
      prev: author.head,
      signer: kindTable[kind].signed ? author.signer : undefined,
    };
    author.tally.add(author.seq, kind, payload);
    if (kind === "effect") {
      const effect = payload as Payload<"effect">;
      const dispatch = effect.dispatch ?? author.seq;
      author.effects.set(dispatch, { dispatch, key: effect.key, phase: effect.phase });
    }
    const made = this.#encode(kind, payload, at);
    author.seq += 1;
    author.head = made.hash;
    return { seq: at.seq, store: () => this.store(made.subject, made.data) };
  }

  /** The agent's next event, stored. Returns its number. */
  agent<K extends EventKind>(
    task: string,
    kind: K,
    payload: Payload<K>,
    at: { actor?: string; epoch?: number } = {},
  ): number {
    const recorded = this.record(task, kind, payload, at);
    recorded.store();
    return recorded.seq;
  }

  error(
    task = "t1",
    { attempt = 1, reasons = [], recovered = false, finality = "recoverable" }: ErrorOptions = {},
  ): number {
    return this.agent(task, "error", this.errorPayload({ attempt, reasons, recovered, finality }));
  }

  errorPayload({
    attempt = 1,
    reasons = [],
    recovered = false,
    finality = "recoverable",
  }: ErrorOptions = {}): Payload<"error"> {
    return {
      type: "transient",
      finality,
      recovered,
      operation: "lookup",
      attempt,
      attempts: reasons.map((reason, i) => ({ attempt: i + 1, reason, delayMs: 0 })),
      effects: [],
    };
  }

  retry(task: string, attempt: number, reason: number, outcome: "ok" | "failed" = "ok"): number {
    return this.agent(task, "retry", { operation: "lookup", attempt, reason, delayMs: 5, outcome });
  }

  dispatch(
    task = "t1",
    intent = "charge",
    { digest, epoch = this.epochOf(task) }: { digest?: Uint8Array; epoch?: number } = {},
  ): number {
    return this.agent(
      task,
      "effect",
      {
        phase: "dispatched",
        intent,
        key: `key-${intent}`,
        target: "payments",
        ...(digest ? { arguments: digest } : {}),
      },
      { epoch },
    );
  }

  outcome(
    task: string,
    dispatch: number,
    phase: Exclude<EffectPhase, "dispatched"> = "committed",
    intent = "charge",
    epoch = this.epochOf(task),
  ): number {
    return this.agent(task, "effect", { phase, intent, key: `key-${intent}`, target: "payments", dispatch }, { epoch });
  }

  /** The report that an honest runtime makes of the author's books, with any part bent. */
  reportPayload(
    task = "t1",
    bend: Partial<Payload<"report">> = {},
    { brief = plainBrief, scope = fullScope } = {},
  ): Payload<"report"> {
    const { tally, effects, head } = this.author(task);
    const coverage = bend.coverage ?? brief.keyTasks.map((name) => ({ task: name, state: "done" as const }));
    const caveats = bend.caveats ?? [];
    const entries = this.#retries(task);
    return {
      claim: "pass",
      finishReason: "completed",
      coverage,
      effects: [...effects.values()],
      receipts: {
        errorLog: errorLogReceiptOf(tally, head),
        retries: { entries, unseen: unseenRetryLayers(scope) },
      },
      receiptParts: 0,
      confidence: {
        formula: 1,
        score: completionConfidence({
          errors: tally.errors(),
          retries: tally.retryCount,
          coverage,
          keyTasks: brief.keyTasks,
          caveats: caveats.length,
        }),
        caveats: caveats.length,
      },
      work: { calls: 1, succeeded: 1 },
      caveats,
      ...bend,
    };
  }

  report(task = "t1", bend: Partial<Payload<"report">> = {}, context: { brief?: Brief; scope?: Scope } = {}): this {
    this.agent(task, "report", this.reportPayload(task, bend, context));
    return this;
  }

  /** Lets log time pass and the guard's timers of that time fire. */
  tick(ms: number): this {
    this.nowMs += ms;
    for (const due of this.fold.pendingTimers().filter(({ deadlineMs }) => deadlineMs <= this.nowMs)) this.timer(due);
    return this;
  }

  timer({ task, epoch, timer, deadlineMs }: TimerRequest): Output[] {
    return this.event("timer", { timer, deadlineMs }, { task, actor: guardActor, epoch, seq: 1, prev: zeroHash })
      .outputs;
  }

  probe(
    outcome: Payload<"probe">["outcome"],
    {
      task = "t1",
      epoch = this.epochOf(task),
      seq = 1,
      prev = zeroHash,
      signer = prober,
      signed = true,
      actor = "prober",
    } = {},
  ): Output[] {
    return this.event(
      "probe",
      { target: { of: "task" }, method: "look", outcome },
      { task, actor, epoch, seq, prev, signer: signed ? signer : undefined },
    ).outputs;
  }

  /** Trusts another key of a prober from now on. */
  trust(name: string, key: string): Output[] {
    const certificate = issueCertificate(operator, { role: "probe", name, key });
    return this.intent(runTask, "key-added", { certificate });
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

  /** Folds the same log again from nothing. */
  replay(): Scenario {
    const again = new Scenario({ run: this.#run, policy: this.#policy });
    for (const message of this.log) {
      again.log.push(message);
      again.foldEntry(admit(message));
    }
    return again;
  }

  #encode<K extends EventKind>(
    kind: K,
    payload: Payload<K>,
    at: Placed,
  ): { subject: string; data: Uint8Array; hash: Uint8Array } {
    const { role } = kindTable[kind];
    const { task, actor, epoch, seq, prev, signer } = at;
    const run = this.#run;
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

  #retries(task: string): NonNullable<Payload<"report">["receipts"]>["retries"]["entries"] {
    const entries: NonNullable<Payload<"report">["receipts"]>["retries"]["entries"] = [];
    for (const message of this.log) {
      const entry = admit(message);
      if (
        entry.type === "event" &&
        entry.kind === "retry" &&
        entry.event.task === task &&
        entry.event.epoch === this.epochOf(task)
      ) {
        entries.push({ seq: entry.event.seq, ...entry.payload });
      }
    }
    return entries;
  }
}

/** A run that is open, with one task delegated and accepted. */
export function acceptedTask(
  options: {
    policy?: Partial<Policy>;
    brief?: Partial<Brief>;
    intents?: string[];
    scope?: Scope;
    mode?: "enforce" | "observe";
  } = {},
): Scenario {
  const { policy = {}, brief = {}, intents = ["charge"], scope = fullScope, mode = "enforce" } = options;
  return new Scenario({ policy }).open().delegate("t1", { brief, intents }).accept("t1", { scope, mode });
}
