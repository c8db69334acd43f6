export { leafHash } from "./leaf.js";
export { decodePublicKey, decodeSeed, encodePublicKey, encodeSeed, isPublicKey } from "./key-text.js";
export { verifyConsistency, verifyInclusion } from "./merkle/proof.js";
export type { ConsistencyClaim, InclusionClaim } from "./merkle/proof.js";
export { consistencyProof, createMerkleTree, inclusionProof, merkleRoot } from "./merkle/tree.js";
export type { MerkleState, MerkleTree } from "./merkle/tree.js";
export { scan } from "./scan.js";
export { verifySignature } from "./signature/signature.js";
export { createSeed, createSigner } from "./signature/signer.js";
export type { Signer } from "./signature/signer.js";
export {
  certifyTaskKey,
  checkCertificate,
  decodeCertificate,
  encodeCertificate,
  isTaskKeyCertified,
  issueCertificate,
} from "./certificate.js";
export type { CertificateSubject } from "./certificate.js";
export { formatCheckpoint, openCheckpoint, parseCheckpoint, readCheckpoint, signCheckpoint } from "./checkpoint.js";
export type { Checkpoint } from "./checkpoint.js";
export { certificateHeader, GuardRecords, readCertificateHeader } from "./guard-record.js";
export type { CheckedVerdict } from "./guard-record.js";
export { openNote, parseNote, signNote } from "./note.js";
export type { Note } from "./note.js";
export { proseDigest } from "./prose-digest.js";
export { redact } from "./redact.js";
export { createDataKey, seal, unseal } from "./seal.js";
export { admit } from "./admit.js";
export type { ChainFinding } from "./log-check/chain-check.js";
export type { LogFinding } from "./log-check/lane-check.js";
export { checkLog, createLogCheck } from "./log-check/log-check.js";
export type { LogCheck, LogCheckOptions, LogReport } from "./log-check/log-check.js";
