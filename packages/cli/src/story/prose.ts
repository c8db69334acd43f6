import { isCandorError } from "@candor/contract";
import { unseal } from "@candor/ledger";

/** Whether the data key of a run is at hand, gone for good, or not for this identity to read. */
export type ProseKey =
  { readonly state: "there"; readonly key: Uint8Array } | { readonly state: "erased" } | { readonly state: "withheld" };

/** Opens sealed prose for a person, or says why it can't be read. */
export function prose(sealed: Uint8Array | undefined, key: ProseKey): string | undefined {
  if (sealed === undefined) return undefined;
  if (key.state !== "there") return key.state === "erased" ? "(erased)" : "(sealed)";
  try {
    return unseal(sealed, key.key);
  } catch (error) {
    if (isCandorError(error)) return "(does not open)";
    throw error;
  }
}
