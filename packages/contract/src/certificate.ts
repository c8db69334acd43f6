import { z } from "zod";
import { concatBytes, domainPrefix } from "./bytes.js";
import { encodeCanonical } from "./msgpack.js";
import { id, publicKey, signature64 } from "./identifiers.js";
import { roles, type Role } from "./vocabulary.js";

/** The operator's word that `key` signs for `name` in `role`. */
export const certificateSchema = z.strictObject({
  role: z.enum(roles),
  name: id,
  key: publicKey,
  signature: signature64,
});
export type Certificate = z.infer<typeof certificateSchema>;

/** The bytes that the operator signs for a certificate. */
export function certificateMessage(subject: { role: Role; name: string; key: string }): Uint8Array {
  return concatBytes(
    domainPrefix("candor/v1/certificate"),
    encodeCanonical([1, subject.role, subject.name, subject.key]),
  );
}

export interface TaskKeySubject {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
  /** Public text of the ephemeral key. */
  readonly taskKey: string;
}

/** The bytes that a deployment identity signs to bind an ephemeral task key. */
export function taskKeyMessage(subject: TaskKeySubject): Uint8Array {
  return concatBytes(
    domainPrefix("candor/v1/task-key"),
    encodeCanonical([1, subject.run, subject.task, subject.epoch, subject.actor, subject.taskKey]),
  );
}
