import {
  defaultPolicy,
  policyHash,
  runTask,
  zeroHash,
  type Brief,
  type EventKind,
  type Payload,
  type Policy,
} from "@candor/contract";
import type { Output } from "@candor/guards";
import { issueCertificate, type Signer } from "@candor/ledger";
import { LaneLog } from "./lane-log.js";
import { keys, operator, plainBrief } from "./scenario-cast.js";

const { deployment, fleet, prober } = keys;

interface DelegateOptions {
  readonly brief?: Partial<Brief>;
  readonly intents?: readonly string[];
  /** Minted keys as they stand in the delegation, instead of `intents`. */
  readonly minted?: Payload<"delegate">["intents"];
  readonly actor?: string;
  readonly key?: string;
}

export type PolicyChange = { readonly [Field in keyof Policy]?: Policy[Field] | undefined };

interface StopOptions {
  readonly graceMs?: number;
  readonly bend?: { seq?: number; prev?: Uint8Array; epoch?: number; actor?: string; signer?: Signer | undefined };
}

/** A lane's log with the control intents of one run in it, as an honest orchestrator would publish them. */
export class RunLog extends LaneLog {
  protected readonly policy: Policy;
  readonly #controls = new Map<string, { control: number; hash: Uint8Array; epoch: number }>();

  /** @param options.policy over the default one; a field that is undefined is left out */
  constructor({ run = "r1", policy = {} }: { run?: string; policy?: PolicyChange } = {}) {
    super(run);
    const fields = Object.entries({ ...defaultPolicy, ...policy }).filter(([, value]) => value !== undefined);
    this.policy = Object.fromEntries(fields) as Policy;
  }

  /** @param certifier who vouches for the fleet; the operator, unless a test says otherwise */
  open(certifier: Signer = operator): this {
    const fleetCertificate = issueCertificate(certifier, { role: "orch", name: "fleet", key: fleet.publicKey });
    const proberCertificate = issueCertificate(operator, { role: "probe", name: "prober", key: prober.publicKey });
    this.intent(runTask, "run-open", {
      policy: this.policy,
      policyHash: policyHash(this.policy),
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
    { brief = {}, intents = [], minted, actor = "agent", key = deployment.publicKey }: DelegateOptions = {},
  ): this {
    this.intent(task, "delegate", {
      standing: { epoch: this.epochOf(task) + 1, state: "delegated" },
      agent: { actor, key },
      brief: { ...plainBrief, ...brief },
      intents: minted ?? intents.map((intent) => ({ intent, key: `key-${intent}` })),
      policyHash: policyHash(this.policy),
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

  /** Trusts another key of a prober from now on. */
  trust(name: string, key: string): Output[] {
    const certificate = issueCertificate(operator, { role: "probe", name, key });
    return this.intent(runTask, "key-added", { certificate });
  }
}
