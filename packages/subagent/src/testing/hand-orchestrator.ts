import {
  decodeDelegationToken,
  defaultPolicy,
  encodeBody,
  encodeDelegationToken,
  encodeFrame,
  encodePayload,
  encodeSigned,
  encodeVerdictBody,
  eventHash,
  guardRecordMessage,
  intentSubject,
  laneOf,
  policyHash,
  runTask,
  verdictSubject,
  zeroHash,
  type Certificate,
  type IntentKind,
  type Payload,
} from "@candor/contract";
import { createDataKey, createSeed, createSigner, issueCertificate, seal, type Signer } from "@candor/ledger";

/** Stores a message under its stored subject and gives its sequence. */
export type Store = (storedSubject: string, data: Uint8Array) => Promise<number> | number;

interface Issued {
  readonly hash: Uint8Array;
  readonly control: number;
  readonly sequence: number;
  readonly token: string;
}

export interface DelegateFacts {
  readonly keyTasks?: readonly string[];
  readonly intents?: Payload<"delegate">["intents"];
  readonly retryBudget?: number;
  readonly predecessor?: { readonly actor: string; readonly epoch: number };
  readonly epoch?: number;
  readonly instructions?: string;
}

/** Writes intents, and the guard's word on them, by hand. */
export class HandOrchestrator {
  readonly operator = createSigner(createSeed());
  readonly fleet = createSigner(createSeed());
  readonly guard = createSigner(createSeed());
  readonly agent: Signer;
  readonly dataKey = createDataKey();
  readonly run: string;
  readonly lane: number;
  readonly #store: Store;
  readonly #lines = new Map<string, { control: number; head: Uint8Array; epoch: number }>();

  constructor(store: Store, run = "run-1", agent = createSigner(createSeed())) {
    this.#store = store;
    this.run = run;
    this.lane = laneOf(run, 16);
    this.agent = agent;
  }

  openRun(): Promise<Issued> {
    const fleet = this.#certificate();
    return this.#issue("run-open", runTask, 1, {
      policy: defaultPolicy,
      policyHash: policyHash(defaultPolicy),
      fleet,
      probers: [],
      operator: this.operator.publicKey,
      isolation: "separate-process",
    });
  }

  /** Trusts one more prober. */
  addKey(): Promise<Issued> {
    const key = createSigner(createSeed()).publicKey;
    return this.#issue("key-added", runTask, 1, {
      certificate: issueCertificate(this.operator, { role: "probe", name: "p", key }),
    });
  }

  closeRun(): Promise<Issued> {
    return this.#issue("run-close", runTask, 1, { state: "completed" });
  }

  /** The token of a delegation, with the fleet's certificate or without. */
  tokenOf({ token }: Issued, { fleet }: { readonly fleet: boolean }): string {
    const parts = decodeDelegationToken(token);
    return encodeDelegationToken(fleet ? { ...parts, fleet: this.#certificate() } : parts);
  }

  delegate(task: string, facts: DelegateFacts = {}): Promise<Issued> {
    const { keyTasks = [], intents = [], retryBudget = 10, predecessor, epoch = 1, instructions } = facts;
    return this.#issue("delegate", task, epoch, {
      standing: { epoch, state: "delegated" },
      agent: { actor: "agent", key: this.agent.publicKey },
      brief: {
        keyTasks: [...keyTasks],
        critical: false,
        directlyVerifiable: false,
        retryBudget,
        authority: [],
        needs: [],
        ...(instructions === undefined ? {} : { instructions: seal(instructions, this.dataKey) }),
      },
      intents: [...intents],
      policyHash: policyHash(defaultPolicy),
      ...(predecessor === undefined ? {} : { predecessor }),
    });
  }

  recall(task: string, graceMs = 10_000): Promise<Issued> {
    const { epoch } = this.#line(task);
    return this.#issue("recall", task, epoch, { standing: { epoch, state: "recalled" }, graceMs, reason: "test" });
  }

  terminate(task: string): Promise<Issued> {
    const { epoch } = this.#line(task);
    return this.#issue("terminate", task, epoch, {
      standing: { epoch, state: "terminated" },
      reason: "test",
      force: true,
    });
  }

  /** The guard's word on an intent. */
  async judge(task: string, intent: Issued, accepted = true): Promise<void> {
    const body = encodeVerdictBody({
      run: this.run,
      task,
      epoch: 1,
      judge: "intent",
      verdict: accepted ? "INTENT_ACCEPTED" : "INTENT_REJECTED",
      action: accepted ? "proceed" : "halt",
      final: true,
      revision: 1,
      ordinal: intent.control,
      findings: [],
      sentence: "",
      cause: { first: 1, last: 1 },
      at: 0,
      fold: 1,
      policy: policyHash(defaultPolicy),
      isolation: "separate-process",
      intent: { control: intent.control, kind: "any", hash: intent.hash },
    });
    const certificate = issueCertificate(this.operator, { role: "guard", name: "g", key: this.guard.publicKey });
    const signature = this.guard.sign(guardRecordMessage("verdict", body));
    const subject = verdictSubject({ lane: this.lane, run: this.run, task, judge: "intent" });
    await this.#store(subject, encodeSigned({ body, certificate, signature }));
  }

  #certificate(): Certificate {
    return issueCertificate(this.operator, { role: "orch", name: "fleet", key: this.fleet.publicKey });
  }

  #line(task: string): { control: number; head: Uint8Array; epoch: number } {
    return this.#lines.get(task) ?? { control: 0, head: zeroHash, epoch: 1 };
  }

  async #issue<K extends IntentKind>(kind: K, task: string, epoch: number, payload: Payload<K>): Promise<Issued> {
    const { control: last, head } = this.#line(task);
    const control = last + 1;
    const body = encodeBody({
      kind,
      run: this.run,
      task,
      epoch,
      role: "orch",
      actor: "fleet",
      seq: control,
      prev: head,
      at: 0,
      payload: encodePayload(kind, payload),
    });
    const hash = eventHash(body);
    const frame = encodeFrame(body, this.fleet.sign(hash));
    const { lane, run, dataKey } = this;
    const sequence = await this.#store(intentSubject({ lane, run, task, fleet: "fleet" }), frame);
    this.#lines.set(task, { control, head: hash, epoch });
    return { hash, control, sequence, token: encodeDelegationToken({ intent: frame, lane, sequence, dataKey }) };
  }
}
