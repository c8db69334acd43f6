import {
  defaultPolicy,
  encodeSigned,
  guardRecordMessage,
  policyHash,
  type Certificate,
  type GuardRecord,
  type VerdictBody,
} from "@candor/contract";
import { createSeed, createSigner, issueCertificate, type Signer } from "@candor/ledger";

export const operator = createSigner(createSeed());
export const guard = createSigner(createSeed());
export const certificate = issueCertificate(operator, { role: "guard", name: "g1", key: guard.publicKey });
export const subject = "candor.vd.3.r1.t1.disclosure";

export const body: VerdictBody = {
  run: "r1",
  task: "t1",
  epoch: 1,
  judge: "disclosure",
  verdict: "FULL_DISCLOSURE_VERIFIED",
  action: "proceed",
  final: true,
  revision: 1,
  ordinal: 1,
  findings: [],
  sentence: "Said for people.",
  cause: { first: 1, last: 2 },
  at: 0,
  fold: 1,
  policy: policyHash(defaultPolicy),
  isolation: "separate-process",
};

export interface SignedBy {
  readonly kind?: GuardRecord;
  readonly signer?: Signer;
  readonly certificate?: Certificate;
}

/** A guard's record as stored; the guard's own verdict unless told otherwise. */
export function signed(bytes: Uint8Array, by: SignedBy = {}): Uint8Array {
  const { kind = "verdict", signer = guard } = by;
  const signature = signer.sign(guardRecordMessage(kind, bytes));
  return encodeSigned({ body: bytes, certificate: by.certificate ?? certificate, signature });
}
