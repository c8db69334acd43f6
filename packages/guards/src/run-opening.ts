import {
  certificateMessage,
  equalBytes,
  policyFaults,
  policyHash,
  type AdmittedEvent,
  type AdmittedOf,
  type Certificate,
  type Policy,
} from "@candor/contract";
import { foldRunIntent } from "./intent-fold.js";
import { hashText } from "./kept.js";
import type { Verify } from "./output.js";
import type { Speaker } from "./speaker.js";
import { initialRun, type RunState } from "./state.js";

/** Policies that are held once for all runs; past this many each run has its own. */
const mostPolicies = 64;

/** What a lane opens its runs by: the operator whom its log trusts, and the policies that it has seen. */
export class RunOpenings {
  readonly #operator: string;
  readonly #policies = new Map<string, Policy>();

  /** @param operator its public key */
  constructor(operator: string) {
    this.#operator = operator;
  }

  /** Opens a run. Returns undefined, and has said why, if the opening does not hold. */
  open(entry: AdmittedOf<"run-open"> & AdmittedEvent, verify: Verify, speaker: Speaker): RunState | undefined {
    const { payload, event, signature, hash } = entry;
    if (signature === undefined) {
      speaker.quarantine(entry, "unsigned", "An opening must be signed by its fleet's key.");
      return undefined;
    }
    const certified = [payload.fleet, ...payload.probers].every((certificate) => this.isCertified(certificate, verify));
    const roles = payload.fleet.role === "orch" && payload.probers.every(({ role }) => role === "probe");
    const named = payload.fleet.name === event.actor && payload.operator === this.#operator;
    if (!certified || !named || !roles) {
      speaker.quarantine(
        entry,
        "untrusted-key",
        "The operator that this log trusts has not certified the keys of this run.",
        "payload.fleet",
      );
      return undefined;
    }
    if (!verify(payload.fleet.key, hash, signature)) {
      speaker.quarantine(entry, "bad-signature", "The opening is not signed by the fleet key that it names.");
      return undefined;
    }
    if (!equalBytes(policyHash(payload.policy), payload.policyHash)) {
      speaker.quarantine(
        entry,
        "malformed",
        "The policy hash is not the hash of the policy document.",
        "payload.policyHash",
      );
      return undefined;
    }
    const [fault] = policyFaults(payload.policy);
    if (fault !== undefined) {
      speaker.quarantine(entry, "malformed", `${fault.code}: ${fault.sentence}.`, `payload.policy.${fault.path}`);
      return undefined;
    }
    const run = initialRun(entry, this.#sharedPolicy(payload));
    return foldRunIntent(run, entry, speaker) ? run : undefined;
  }

  /** Whether the operator has certified whoever is named as a sub-fleet, if anybody is. */
  isSubFleet(certificate: Certificate | undefined, verify: Verify): boolean {
    return certificate === undefined || (certificate.role === "orch" && this.isCertified(certificate, verify));
  }

  /** Whether the operator has certified a key. */
  isCertified({ role, name, key, signature }: Certificate, verify: Verify): boolean {
    return verify(this.#operator, certificateMessage({ role, name, key }), signature);
  }

  /** A policy is some kilobytes, and most runs have the same one. */
  #sharedPolicy({ policy, policyHash: hash }: AdmittedOf<"run-open">["payload"]): Policy {
    const name = hashText(hash);
    const known = this.#policies.get(name);
    if (known !== undefined) return known;
    if (this.#policies.size < mostPolicies) this.#policies.set(name, policy);
    return policy;
  }
}
