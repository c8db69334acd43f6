import {
  completionConfidence,
  defaultPolicy,
  encodeBody,
  encodeFrame,
  encodePayload,
  errorLogReceiptOf,
  eventHash,
  kindTable,
  policyHash,
  publishedSubject,
  runTask,
  subjectKind,
  Tally,
  taskKeyMessage,
  zeroHash,
  type Certificate,
  type EventKind,
  type Payload,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";
import { fullScope, plainBrief } from "../kit/scenario.js";

/** Size of the two mixes: the same number of events in few long tasks or in many short ones. */
export const mixes = {
  long: { tasks: 1_000, eventsPerTask: 200 },
  short: { tasks: 10_000, eventsPerTask: 20 },
} as const;
export type Mix = keyof typeof mixes;

export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
}

/** Who signs. A null signature makes generation cheap where signatures are not what is measured. */
export interface Cast {
  readonly run: string;
  readonly operatorKey: string;
  readonly fleet: { readonly certificate: Certificate; readonly signer: Signer };
  readonly agent: { readonly name: string; readonly signer: Signer };
  readonly taskKey: () => Signer;
}

/** Signatures that folding one task takes to check: the intent, the task key's certificate, the acceptance, the report. */
export const signaturesPerTask = 4;

/** Stands for what a sealed sentence weighs, so that events come to about 300 bytes. */
const sealedDescription = new Uint8Array(110).fill(7);

type Trait = "plain" | "examines" | "upward" | "failed";

/** So that every judge has its share: of ten tasks one fails, one has terms and an upward report, two say what they examine. */
function traitOf(task: string): Trait {
  const n = Number(/\d+$/.exec(task)?.[0] ?? 0) % 10;
  if (n === 3) return "upward";
  if (n === 6) return "failed";
  return n % 5 === 1 ? "examines" : "plain";
}

function briefOf(task: string): Payload<"delegate">["brief"] {
  const trait = traitOf(task);
  if (trait === "upward") return { ...plainBrief, terms: { redispatches: 1 } };
  // Two neighbours examine one file, and agree.
  if (trait === "examines")
    return { ...plainBrief, examines: [`file-${Math.floor(Number(/\d+$/.exec(task)?.[0]) / 10)}`] };
  return plainBrief;
}

/** What a report has by the trait of its task. */
const upwardReport: Pick<Payload<"report">, "selfReportedConfidence" | "upward"> = {
  selfReportedConfidence: 0.9,
  upward: { status: "completed", escalationRequired: false, blockers: [], anchors: [sealedDescription], planned: [] },
};

class Chain {
  seq = 0;
  head: Uint8Array = zeroHash;
  readonly #cast: Cast;
  readonly #task: string;

  constructor(cast: Cast, task: string) {
    this.#cast = cast;
    this.#task = task;
  }

  event<K extends EventKind>(kind: K, payload: Payload<K>, signer: Signer | undefined): Message {
    const { role } = kindTable[kind];
    const { run } = this.#cast;
    const task = this.#task;
    const actor = role === "orch" ? this.#cast.fleet.certificate.name : this.#cast.agent.name;
    this.seq += 1;
    const body = encodeBody({
      kind,
      run,
      task,
      epoch: 1,
      role,
      actor,
      seq: this.seq,
      prev: this.head,
      at: 1_700_000_000_000 + this.seq,
      payload: encodePayload(kind, payload),
    });
    this.head = eventHash(body);
    const subject = publishedSubject({ role, actor, run, task, kind: subjectKind(role, kind) });
    return { subject, data: encodeFrame(body, signer?.sign(this.head)) };
  }
}

export function openRun(cast: Cast): Message {
  const payload: Payload<"run-open"> = {
    policy: defaultPolicy,
    policyHash: policyHash(defaultPolicy),
    fleet: cast.fleet.certificate,
    probers: [],
    operator: cast.operatorKey,
    isolation: "separate-process",
  };
  return new Chain(cast, runTask).event("run-open", payload, cast.fleet.signer);
}

export interface TaskMessages {
  /** The delegation, which must be stored before the rest. */
  readonly intent: Message;
  readonly events: readonly Message[];
  /** The intent that closes it. */
  readonly close: Message;
}

/**
 * One task: delegation, acceptance, `eventsPerTask − 3` errors, retries and effects, and an honest report.
 * @param reported false leaves the report out, so that the task stays open
 */
export function taskMessages(cast: Cast, task: string, eventsPerTask: number, reported = true): TaskMessages {
  const control = new Chain(cast, task);
  const minted = Array.from({ length: Math.ceil(eventsPerTask / 50) }, (_, i) => ({
    intent: `charge-${i}`,
    key: `key-${task}-${i}`,
  }));
  const intent = control.event(
    "delegate",
    {
      standing: { epoch: 1, state: "delegated" },
      agent: { actor: cast.agent.name, key: cast.agent.signer.publicKey },
      brief: briefOf(task),
      intents: minted,
      policyHash: policyHash(defaultPolicy),
    },
    cast.fleet.signer,
  );

  const delegation = control.head;
  const close = control.event(
    "close",
    // What has terms is only accepted by a verifier or a person.
    { standing: { epoch: 1, state: "closed" }, state: traitOf(task) === "upward" ? "cancelled" : "accepted" },
    cast.fleet.signer,
  );

  const taskSigner = cast.taskKey();
  const chain = new Chain(cast, task);
  const tally = new Tally();
  const entries: NonNullable<Payload<"report">["receipts"]>["retries"]["entries"] = [];
  const effects: Payload<"report">["effects"] = [];
  const events: Message[] = [];
  const add = <K extends EventKind>(kind: K, payload: Payload<K>): number => {
    events.push(chain.event(kind, payload, kindTable[kind].signed ? taskSigner : undefined));
    if (kind !== "report") tally.add(chain.seq, kind, payload);
    return chain.seq;
  };

  const { run } = cast;
  const taskKey = taskSigner.publicKey;
  const certificate = cast.agent.signer.sign(taskKeyMessage({ run, task, epoch: 1, actor: cast.agent.name, taskKey }));
  add("accept", { taskKey, certificate, delegation, scope: fullScope, mode: "enforce" });

  // An error and the retry that recovers it, and now and then an effect and its outcome, up to the last event.
  const last = eventsPerTask - (reported ? 2 : 1);
  while (chain.seq + 2 <= last) {
    const key = minted[effects.length];
    if (chain.seq % 16 === 5 && key !== undefined) {
      const effect = { ...key, target: "payments", covers: "work" };
      const dispatch = add("effect", { ...effect, phase: "dispatched", arguments: new Uint8Array(32) });
      add("effect", { ...effect, phase: "committed", dispatch, identifiers: { payment: `pay-${task}-${dispatch}` } });
      effects.push({ dispatch, key: key.key, phase: "committed" });
      continue;
    }
    const operation = "inventory.lookup";
    const upstream = "inventory-db";
    const reason = add("error", {
      type: "transient",
      finality: "recoverable",
      recovered: false,
      operation,
      upstream,
      attempt: 1,
      attempts: [],
      effects: [],
      description: sealedDescription,
    });
    const retry = { operation, upstream, attempt: 2, reason, delayMs: 50, outcome: "ok" } as const;
    entries.push({ seq: add("retry", retry), ...retry });
  }
  let failure: Payload<"report">["failure"];
  if (chain.seq < last) {
    const isFailed = traitOf(task) === "failed";
    const stated = { type: "transient", finality: isFailed ? "exhausted" : "recoverable" } as const;
    const operation = isFailed ? "inventory.order" : "inventory.lookup";
    const error = add("error", {
      ...stated,
      recovered: !isFailed,
      operation,
      attempt: 1,
      attempts: [],
      effects: [],
      description: sealedDescription,
    });
    if (isFailed) {
      const committed = effects.map(({ dispatch, key }) => ({
        intent: minted.find((one) => one.key === key)?.intent ?? "",
        key,
        identifiers: { payment: `pay-${task}-${dispatch}` },
      }));
      failure = {
        error,
        hash: chain.head,
        ...stated,
        operation,
        attempt: 1,
        attempts: [],
        effects: committed,
        effectsOmitted: 0,
      };
    }
  }
  if (reported) {
    const coverage = [{ task: "work", state: failure === undefined ? ("done" as const) : ("failed" as const) }];
    const score = completionConfidence({
      errors: tally.errors(),
      retries: tally.retryCount,
      coverage,
      keyTasks: plainBrief.keyTasks,
      caveats: 0,
    });
    add("report", {
      ...(failure === undefined
        ? { claim: "pass", finishReason: "completed" }
        : { claim: "fail", finishReason: "error", failure }),
      ...(traitOf(task) === "upward" ? upwardReport : {}),
      coverage,
      effects,
      receipts: { errorLog: errorLogReceiptOf(tally, chain.head), retries: { entries, unseen: [] } },
      receiptParts: 0,
      confidence: { formula: 1, score, caveats: 0 },
      work: { calls: eventsPerTask, succeeded: eventsPerTask },
      upstreams: [
        { upstream: "inventory-db", calls: 2 * entries.length, firstTry: entries.length, tries: 3 * entries.length },
      ],
      caveats: [],
    });
  }
  return { intent, events, close };
}
