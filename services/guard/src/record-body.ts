import { encodeQuarantineBody, encodeVerdictBody } from "@candor/contract";
import type { GuardOutput } from "./lane-ports.js";

/** The canonical bytes of what a guard says: a function of the log, the same for every guard. */
export function recordBody(output: GuardOutput): Uint8Array {
  return output.type === "verdict" ? encodeVerdictBody(output.body) : encodeQuarantineBody(output.body);
}
