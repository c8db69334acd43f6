import {
  needsSignature,
  Tally,
  taskKeyMessage,
  zeroHash,
  type Brief,
  type EffectPhase,
  type EventKind,
  type Mode,
  type Payload,
  type RetryEntry,
  type Scope,
} from "@candor/contract";
import type { Output } from "@candor/guards";
import { admit, createSeed, createSigner, type Signer } from "@candor/ledger";
import { errorPayload, honestReport, type Author, type ErrorOptions } from "./agent-books.js";
import { RunLog, type PolicyChange } from "./run-log.js";
import { fullScope, keys, plainBrief } from "./scenario-cast.js";

export { fullScope, keys, operator, plainBrief } from "./scenario-cast.js";

const { deployment, prober } = keys;

interface AcceptOptions {
  readonly scope?: Scope;
  readonly mode?: Mode;
  readonly actor?: string;
}

/**
 * Given, when, then for a lane: builds the signed log of one run as honest parties would, lets a test bend any part
 * of it, and folds it. Time passes only when a test says so.
 */
export class Scenario extends RunLog {
  readonly #authors = new Map<string, Author>();

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
    const certificate = deployment.sign(taskKeyMessage({ run: this.run, task, epoch, actor, taskKey }));
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
      signer: needsSignature(kind, payload) ? author.signer : undefined,
    };
    // Receipts cover what comes before them, so they and the report count in no tally.
    if (kind !== "receipt" && kind !== "report") author.tally.add(author.seq, kind, payload);
    if (kind === "effect") {
      const effect = payload as Payload<"effect">;
      const dispatch = effect.phase === "dispatched" ? author.seq : effect.dispatch;
      // What is said of an earlier epoch's dispatch is no effect of this one.
      if (dispatch !== undefined) author.effects.set(dispatch, { dispatch, key: effect.key, phase: effect.phase });
    }
    const made = this.encode(kind, payload, at);
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

  errorPayload(options: ErrorOptions = {}): Payload<"error"> {
    return errorPayload(options);
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
    return honestReport(this.author(task), this.#retries(task), bend, { brief, scope });
  }

  report(task = "t1", bend: Partial<Payload<"report">> = {}, context: { brief?: Brief; scope?: Scope } = {}): this {
    this.agent(task, "report", this.reportPayload(task, bend, context));
    return this;
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

  /** Folds the same log again from nothing. */
  replay(): Scenario {
    const again = new Scenario({ run: this.run, policy: this.policy });
    for (const message of this.log) {
      again.log.push(message);
      again.foldEntry(admit(message));
    }
    return again;
  }

  #retries(task: string): RetryEntry[] {
    const entries: RetryEntry[] = [];
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
    policy?: PolicyChange;
    brief?: Partial<Brief>;
    intents?: string[];
    scope?: Scope;
    mode?: "enforce" | "observe";
  } = {},
): Scenario {
  const { policy = {}, brief = {}, intents = ["charge"], scope = fullScope, mode = "enforce" } = options;
  return new Scenario({ policy }).open().delegate("t1", { brief, intents }).accept("t1", { scope, mode });
}
