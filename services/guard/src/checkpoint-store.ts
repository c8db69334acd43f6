import { CandorError, checkpointSubject, streams, utf8, type Certificate, type StoredMessage } from "@candor/contract";
import { readLast, type Link, type Publisher } from "@candor/bus";
import {
  certificateHeader,
  encodeCertificate,
  GuardRecords,
  readCertificateHeader,
  signCheckpoint,
} from "@candor/ledger";
import type { CheckpointStore } from "./checkpointer.js";
import type { GuardIdentity } from "./guard-identity.js";

function certificateOf({ headers }: StoredMessage, lane: number): Certificate {
  const certificate = readCertificateHeader(headers);
  if (certificate !== undefined) return certificate;
  throw new CandorError("untrusted-key", `The checkpoint of lane ${lane} comes without its guard's certificate.`);
}

/** The checkpoints of a lane on the verdict stream. */
export function openCheckpointStore(
  { link, publisher, identity }: { link: Link; publisher: Publisher; identity: GuardIdentity },
  lane: number,
): CheckpointStore {
  const subject = checkpointSubject(lane);
  const headers = { [certificateHeader]: encodeCertificate(identity.certificate) };
  const records = new GuardRecords(identity.operator);
  return {
    latest: async () => {
      const message = await readLast(link, streams.verdicts, subject);
      if (message === undefined) return undefined;
      const checkpoint = records.checkpoint(subject, message.data, certificateOf(message, lane));
      return { seq: message.seq, checkpoint };
    },
    store: async (checkpoint, after) => {
      const bytes = utf8(signCheckpoint(checkpoint, identity));
      const outcome = await publisher.publish({ subject, bytes, headers, expect: { sequence: after } });
      return outcome.type === "stored" ? outcome.seq : undefined;
    },
  };
}
