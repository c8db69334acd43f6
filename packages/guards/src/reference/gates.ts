import { hex, sha256, utf8 } from "@candor/contract";

/** The word that a directive begins with, for code to act on. */
export type ReferenceWord = "proceed" | "wait" | "halt";

/** What a reference function returns. */
export interface ReferenceOutcome<Verdict extends string> {
  readonly verdict: Verdict;
  readonly outcome: ReferenceWord;
  /** A sentence for people that begins with PROCEED, WAIT or HALT; no code branches on it. */
  readonly directive: string;
  /** SHA-256 of the manifest text, in lower-case hex. */
  readonly manifestDigest: string;
}

/** One return statement of a reference function. */
export interface Gate<Input, Policy, Verdict extends string> {
  readonly applies: (input: Input, policy: Policy) => boolean;
  readonly verdict: Verdict;
  readonly outcome: ReferenceWord;
  readonly directive: (input: Input, policy: Policy) => string;
  /** The text whose digest is the manifest digest. */
  readonly manifest: (input: Input) => string;
}

/** Leaves through the first gate that applies, through `last` when none does: the order is part of the reference. */
export function leave<Input, Policy, Verdict extends string>(
  gates: readonly Gate<Input, Policy, Verdict>[],
  last: Omit<Gate<Input, Policy, Verdict>, "applies">,
  input: Input,
  policy: Policy,
): ReferenceOutcome<Verdict> {
  const gate = gates.find(({ applies }) => applies(input, policy)) ?? last;
  return {
    verdict: gate.verdict,
    outcome: gate.outcome,
    directive: gate.directive(input, policy),
    manifestDigest: hex(sha256(utf8(gate.manifest(input)))),
  };
}
