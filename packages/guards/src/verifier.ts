import {
  concatBytes,
  domainPrefix,
  encodeCanonical,
  sha256,
  type ProbeOutcome,
  type VerifierKind,
} from "@candor/contract";
import type { VerifyAction } from "./dispatch-rows.js";

/** What a verifier of each kind runs, and what it came to; a further kind of the wire does not compile without its row. */
interface VerifierForms {
  command: {
    readonly runs: { readonly argv: readonly [program: string, ...args: string[]] };
    readonly cameTo: { readonly exitCode: number | null };
  };
  probe: { readonly runs: { readonly probe: string }; readonly cameTo: { readonly outcome: ProbeOutcome } };
}

/** A deterministic check (U5). There is no third kind: a model that reviews a report is none (U3). */
export type Verifier = {
  [K in VerifierKind]: { readonly kind: K; readonly timeLimitMs: number } & VerifierForms[K]["runs"];
}[VerifierKind];

/** Names a verifier without saying what it is: the terms of a delegation pin it, and a receipt must be of the same. */
export function verifierDigest(verifier: Verifier): Uint8Array {
  const what = verifier.kind === "command" ? [...verifier.argv] : [verifier.probe];
  return sha256(concatBytes(domainPrefix("candor/v1/verifier"), encodeCanonical([verifier.kind, ...what])));
}

/** What a verifier that ran came to, with the hash of its output, which is kept as evidence. */
export type VerifierOutcome = {
  [K in VerifierKind]: { readonly kind: K; readonly evidence: string } & VerifierForms[K]["cameTo"];
}[VerifierKind];

/** What ran for a decision: the verifier, and for `verify-and-ablate` the verifier without the new mechanism. */
export interface Verification {
  readonly outcome: VerifierOutcome;
  readonly ablation?: VerifierOutcome;
}

/** What a verification comes to; anything but `accept` is for a person. */
export type Acceptance =
  | { readonly kind: "accept"; readonly evidence: readonly string[] }
  | {
      readonly kind: "escalate";
      readonly why: "verifier-failed" | "ablation-missing" | "mechanism-makes-no-difference";
    };

/**
 * The only way to accept a completed report (U3): with what its verifier came to. A command passes with exit code 0, a
 * probe with `confirmed`. An ablation has to fail: else the new mechanism is not what made the work pass.
 */
export function acceptance(
  { action }: { readonly action: VerifyAction },
  { outcome, ablation }: Verification,
): Acceptance {
  if (!passes(outcome)) return { kind: "escalate", why: "verifier-failed" };
  if (action !== "verify-and-ablate") return { kind: "accept", evidence: [outcome.evidence] };
  if (ablation === undefined) return { kind: "escalate", why: "ablation-missing" };
  if (!fails(ablation)) return { kind: "escalate", why: "mechanism-makes-no-difference" };
  return { kind: "accept", evidence: [outcome.evidence, ablation.evidence] };
}

function passes(outcome: VerifierOutcome): boolean {
  return outcome.kind === "command" ? outcome.exitCode === 0 : outcome.outcome === "confirmed";
}

/** A command that did not end, or a probe that can't say, has not failed. */
function fails(outcome: VerifierOutcome): boolean {
  return outcome.kind === "command"
    ? outcome.exitCode !== null && outcome.exitCode !== 0
    : outcome.outcome === "contradicted";
}
