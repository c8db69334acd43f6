import {
  policyHash,
  type ErrorType,
  type FailureStatement,
  type Finality,
  type Hop,
  type Payload,
  type Policy,
} from "@candor/contract";
import { createSeed, createSigner, issueCertificate, type Signer } from "@candor/ledger";
import { keys, operator, plainBrief, Scenario } from "./scenario.js";

/** Sub-fleets by name; `fleet` is the run's own. */
const fleets: Readonly<Record<string, Signer>> = {
  fleet: keys.fleet,
  planners: createSigner(createSeed()),
  workers: createSigner(createSeed()),
  strangers: createSigner(createSeed()),
};

export function fleetCertificate(name: string, certifier: Signer = operator) {
  return issueCertificate(certifier, { role: "orch", name, key: fleets[name]?.publicKey ?? "" });
}

interface PartOptions {
  /** Who delegates; the run's own fleet by default. */
  readonly by?: string;
  /** Task that it is a part of, and its fleet. */
  readonly of?: string;
  readonly parent?: Partial<NonNullable<Payload<"delegate">["parent"]>>;
  readonly subFleet?: string;
  readonly certifier?: Signer;
  readonly brief?: Partial<Payload<"delegate">["brief"]>;
}

/** A run whose agents delegate parts of their tasks: root by the fleet, middle by `planners`, leaf by `workers`. */
export class FamilyScenario extends Scenario {
  constructor(policy: Partial<Policy> = {}) {
    super({ policy });
    this.open();
  }

  /** Root, middle and leaf, delegated and accepted. */
  three(brief: PartOptions["brief"] = {}): this {
    this.part("root", { subFleet: "planners", brief }).accept("root");
    this.part("middle", { by: "planners", of: "root", subFleet: "workers" }).accept("middle");
    return this.part("leaf", { by: "workers", of: "middle" }).accept("leaf");
  }

  part(task: string, { by = "fleet", of, parent = {}, subFleet, certifier, brief = {} }: PartOptions): this {
    const above = { root: "fleet", middle: "planners" }[of ?? ""] ?? "fleet";
    this.intent(
      task,
      "delegate",
      {
        standing: { epoch: this.epochOf(task) + 1, state: "delegated" },
        agent: { actor: "agent", key: keys.deployment.publicKey },
        brief: { ...plainBrief, ...brief },
        intents: [{ intent: "charge", key: "key-charge" }],
        policyHash: policyHash(this.policy),
        ...(subFleet === undefined ? {} : { subFleet: fleetCertificate(subFleet, certifier) }),
        ...(of === undefined
          ? {}
          : { parent: { task: of, epoch: this.epochOf(of), fleet: above, opener: "fleet", ...parent } }),
      },
      { actor: by, signer: fleets[by] },
    );
    return this;
  }

  /** Ends a part, as the sub-fleet that delegated it. */
  closePart(task: string, by: string): this {
    const epoch = this.epochOf(task);
    this.intent(
      task,
      "close",
      { standing: { epoch, state: "closed" }, state: "rejected" },
      { actor: by, signer: fleets[by] },
    );
    return this;
  }

  /** An error of the task, and its hash. */
  fails(
    task: string,
    type: ErrorType = "unavailable",
    finality: Finality = "exhausted",
    bend: Partial<Payload<"error">> = {},
  ): { readonly seq: number; readonly hash: Uint8Array } {
    const payload = { ...this.errorPayload({ finality }), type, ...bend };
    const seq = this.agent(task, "error", payload);
    return { seq, hash: this.author(task).head };
  }

  /** What a report says of the error of that number, as an honest runtime would. */
  statement(
    task: string,
    error: { readonly seq: number; readonly hash: Uint8Array },
    type: ErrorType = "unavailable",
    finality: Finality = "exhausted",
  ): FailureStatement {
    return {
      error: error.seq,
      hash: error.hash,
      type,
      finality,
      operation: "lookup",
      attempt: 1,
      attempts: [],
      effects: [...this.author(task).effects.values()]
        .filter(({ phase }) => phase === "committed")
        .map(({ key }) => ({ intent: "charge", key, identifiers: {} })),
      effectsOmitted: 0,
    };
  }

  /** A report that owns up to a failure. */
  reportsFailure(task: string, failure: FailureStatement, bend: Partial<Payload<"report">> = {}): this {
    return this.report(task, {
      claim: "fail",
      finishReason: "error",
      work: { calls: 1, succeeded: 0 },
      failure,
      ...bend,
    });
  }

  /** A task that fails by itself, and says so. @returns hash of its error */
  failed(task: string, type: ErrorType = "unavailable", finality: Finality = "exhausted"): Uint8Array {
    const error = this.fails(task, type, finality);
    this.reportsFailure(task, this.statement(task, error, type, finality));
    return error.hash;
  }

  /** A task that passes its part's failure up, and fails by it. @returns hash of its hop */
  passes(
    task: string,
    hop: Pick<Hop, "task" | "previous" | "origin"> & Partial<Hop>,
    type: ErrorType = "unavailable",
    finality: Finality = "exhausted",
  ): Uint8Array {
    const error = this.fails(task, type, finality, { hop: this.hop(hop) });
    this.reportsFailure(task, this.statement(task, error, type, finality));
    return error.hash;
  }

  hop(bend: Pick<Hop, "task" | "previous" | "origin"> & Partial<Hop>): Hop {
    return { epoch: 1, saw: { type: "unavailable", finality: "exhausted" }, did: "passed", ...bend };
  }
}
