import { encodeQuarantineBody, encodeSigned, encodeVerdictBody, guardRecordMessage } from "@candor/contract";
import type { GuardIdentity } from "./guard-identity.js";
import type { GuardOutput } from "./lane-ports.js";

/** The canonical bytes of what a guard says: a function of the log, the same for every guard. */
export function recordBody(output: GuardOutput): Uint8Array {
  return output.type === "verdict" ? encodeVerdictBody(output.body) : encodeQuarantineBody(output.body);
}

/** The record as stored: body, certificate of the guard, signature. */
export function signRecord(
  { signer, certificate }: Pick<GuardIdentity, "signer" | "certificate">,
  kind: GuardOutput["type"],
  body: Uint8Array,
): Uint8Array {
  return encodeSigned({ body, certificate, signature: signer.sign(guardRecordMessage(kind, body)) });
}
