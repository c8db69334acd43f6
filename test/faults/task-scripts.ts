import {
  completionConfidence,
  defaultPolicy,
  errorLogReceiptOf,
  policyHash,
  publishedSubject,
  runTask,
  Tally,
  taskKeyMessage,
  type AgentKind,
  type Payload,
  type Policy,
} from "@candor/contract";
import { createSeed, createSigner, type Signer } from "@candor/ledger";
import { fullScope, plainBrief } from "../kit/scenario.js";
import type { World } from "../kit/world.js";
import { Author, type Message } from "./author.js";
import { pick, type Random } from "./random.js";

/** Deadlines short enough to pass, and to be told by timers, while guards are being killed. */
export const hastyPolicy: Policy = { ...defaultPolicy, settleMs: 400, acknowledgeMs: 300, maxGraceMs: 800 };

export type Voice = "fleet" | "rivals" | "payer";

/** One message to publish. */
export interface Step {
  readonly by: Voice;
  readonly message: Message;
  /** A guard has something to say on it: a verdict, or that it is quarantined. */
  readonly isInput: boolean;
}

export interface Cast {
  readonly run: string;
  readonly operatorKey: string;
  readonly fleet: { readonly signer: Signer; readonly certificate: Payload<"run-open">["fleet"] };
  readonly rivals: Signer;
  readonly payer: Signer;
}

export function castOf(world: World, run: string): Cast {
  return {
    run,
    operatorKey: world.operatorKey,
    fleet: {
      signer: world.credentials("orchestrator", "fleet").signer,
      certificate: world.certificate("orchestrator", "fleet"),
    },
    rivals: world.credentials("orchestrator", "rivals").signer,
    payer: world.credentials("agent", "payer").signer,
  };
}

/** The intent that every run begins with. */
export function openingOf({ run, operatorKey, fleet }: Cast): Step {
  const author = new Author({ run, task: runTask, actor: "fleet" }, fleet.signer);
  const message = author.next("run-open", {
    policy: hastyPolicy,
    policyHash: policyHash(hastyPolicy),
    fleet: fleet.certificate,
    probers: [],
    operator: operatorKey,
    isolation: "separate-process",
  });
  return { by: "fleet", message, isInput: true };
}

/** One task: its fleet, its agent in the epoch that holds, and what they say in order. */
class Script {
  readonly steps: Step[] = [];
  readonly #cast: Cast;
  readonly #task: string;
  readonly #control: Author;
  #agent: Author;
  #taskKey: Signer;
  #tally = new Tally();
  #effects: Payload<"report">["effects"] = [];
  #retries: NonNullable<Payload<"report">["receipts"]>["retries"]["entries"] = [];
  #epoch = 0;

  constructor(cast: Cast, task: string) {
    this.#cast = cast;
    this.#task = task;
    this.#control = new Author({ run: cast.run, task, actor: "fleet" }, cast.fleet.signer);
    this.#taskKey = createSigner(createSeed());
    this.#agent = this.#newAgent();
  }

  delegate(): this {
    this.#epoch += 1;
    this.#taskKey = createSigner(createSeed());
    this.#agent = this.#newAgent();
    this.#tally = new Tally();
    this.#effects = [];
    this.#retries = [];
    const predecessor = this.#epoch === 1 ? {} : { predecessor: { actor: "payer", epoch: this.#epoch - 1 } };
    return this.#intend("delegate", {
      standing: { epoch: this.#epoch, state: "delegated" },
      agent: { actor: "payer", key: this.#cast.payer.publicKey },
      brief: plainBrief,
      intents: [{ intent: "charge", key: `charge-${this.#task}`, target: "payments" }],
      policyHash: policyHash(hastyPolicy),
      ...predecessor,
    });
  }

  recall(): this {
    return this.#intend("recall", this.#recallPayload());
  }

  terminate(): this {
    const standing = { epoch: this.#epoch, state: "terminated" } as const;
    return this.#intend("terminate", { standing, reason: "chaos", force: true });
  }

  close(): this {
    return this.#intend("close", { standing: { epoch: this.#epoch, state: "closed" }, state: "accepted" });
  }

  /** Recalls that don't hold: one that repeats a number, one that skips one, and one of another fleet. */
  contest(): this {
    const epoch = this.#epoch;
    const { seq } = this.#control;
    for (const number of [seq, seq + 2]) {
      this.#say("fleet", this.#control.bent("recall", this.#recallPayload(), { epoch, seq: number }), true);
    }
    const rival = new Author({ run: this.#cast.run, task: this.#task, actor: "rivals" }, this.#cast.rivals);
    return this.#say("rivals", rival.next("recall", this.#recallPayload(), epoch), true);
  }

  accept(): this {
    const { run, payer } = this.#cast;
    const { publicKey: taskKey } = this.#taskKey;
    const bound = taskKeyMessage({ run, task: this.#task, epoch: this.#epoch, actor: "payer", taskKey });
    return this.#tell("accept", {
      taskKey,
      certificate: payer.sign(bound),
      delegation: this.#control.head,
      scope: fullScope,
      mode: "enforce",
    });
  }

  /** A failed call and the try that mends it. */
  stumble(): this {
    const place = { operation: "inventory.lookup", upstream: "inventory-db" };
    const failure = { type: "transient", finality: "recoverable", recovered: false } as const;
    this.#tell("error", { ...failure, ...place, attempt: 1, attempts: [], effects: [] });
    const retry = { ...place, attempt: 2, reason: this.#agent.seq, delayMs: 5, outcome: "ok" } as const;
    this.#tell("retry", retry);
    this.#retries.push({ seq: this.#agent.seq, ...retry });
    return this;
  }

  dispatch(): this {
    this.#tell("effect", { ...this.#effect(), phase: "dispatched" });
    this.#effects.push({ dispatch: this.#agent.seq, key: `charge-${this.#task}`, phase: "dispatched" });
    return this;
  }

  commit(isInput: boolean): this {
    const dispatch = this.#effects[0]?.dispatch ?? 0;
    this.#tell("effect", { ...this.#effect(), phase: "committed", dispatch }, isInput);
    this.#effects = [{ dispatch, key: `charge-${this.#task}`, phase: "committed" }];
    return this;
  }

  acknowledge(): this {
    const open = this.#effects.filter(({ phase }) => phase === "dispatched");
    const manifest = open.map(({ dispatch, key }) => ({ dispatch, key, intent: "charge", target: "payments" }));
    return this.#tell("acknowledge", { control: this.#control.seq, manifest, takenAt: this.#agent.seq }, true);
  }

  report(): this {
    const coverage = [{ task: "work", state: "done" as const }];
    const numbers = { errors: this.#tally.errors(), retries: this.#tally.retryCount, coverage, caveats: 0 };
    return this.#tell(
      "report",
      {
        claim: "pass",
        finishReason: "completed",
        coverage,
        effects: this.#effects,
        receipts: {
          errorLog: errorLogReceiptOf(this.#tally, this.#agent.head),
          retries: { entries: this.#retries, unseen: [] },
        },
        receiptParts: 0,
        confidence: {
          formula: 1,
          score: completionConfidence({ ...numbers, keyTasks: plainBrief.keyTasks }),
          caveats: 0,
        },
        work: { calls: 1, succeeded: 1 },
        caveats: [],
      },
      true,
    );
  }

  /** An error that comes when everything is over. */
  straggle(): this {
    const failure = { type: "transient", finality: "recoverable", recovered: true } as const;
    return this.#tell("error", { ...failure, operation: "cleanup", attempt: 1, attempts: [], effects: [] }, true);
  }

  /** Bytes that are no event. */
  garble(): this {
    const subject = publishedSubject({
      role: "agent",
      actor: "payer",
      run: this.#cast.run,
      task: this.#task,
      kind: "error",
    });
    return this.#say("payer", { subject, data: Uint8Array.of(0, 1, 2, 3) }, true);
  }

  #recallPayload(): Payload<"recall"> {
    return { standing: { epoch: this.#epoch, state: "recalled" }, graceMs: 500, reason: "chaos" };
  }

  #effect(): Pick<Payload<"effect">, "intent" | "key" | "target" | "covers"> {
    return { intent: "charge", key: `charge-${this.#task}`, target: "payments", covers: "work" };
  }

  #newAgent(): Author {
    return new Author({ run: this.#cast.run, task: this.#task, actor: "payer" }, this.#taskKey);
  }

  #intend<K extends "delegate" | "recall" | "terminate" | "close">(kind: K, payload: Payload<K>): this {
    return this.#say("fleet", this.#control.next(kind, payload, this.#epoch), true);
  }

  #tell<K extends AgentKind>(kind: K, payload: Payload<K>, isInput = false): this {
    const message = this.#agent.next(kind, payload, this.#epoch);
    if (kind !== "report") this.#tally.add(this.#agent.seq, kind, payload);
    return this.#say("payer", message, isInput);
  }

  #say(by: Voice, message: Message, isInput: boolean): this {
    this.steps.push({ by, message, isInput });
    return this;
  }
}

const plots: readonly [(script: Script) => Script, ...((script: Script) => Script)[]] = [
  // An honest task, closed, and an event that comes too late.
  (s) => s.delegate().accept().stumble().dispatch().commit(false).stumble().report().close().straggle(),
  // Recalled with an effect under way, which ends within the window.
  (s) => s.delegate().accept().dispatch().recall().acknowledge().commit(true).report().close(),
  // Recalled, and no answer: only timers go on.
  (s) => s.delegate().accept().dispatch().recall(),
  // Intents that don't hold between those that do, over three epochs, all on one subject.
  (s) => s.delegate().contest().recall().contest().delegate().accept().terminate().contest().delegate().close(),
  // What is no event at all, between events.
  (s) => s.delegate().garble().accept().garble().stumble().report().garble(),
];

/** What one task of the run says, in order; each is of one of several plots. */
export function scriptOf(cast: Cast, task: string, random: Random): readonly Step[] {
  return pick(random, plots)(new Script(cast, task)).steps;
}
