import { CandorError, checkpointSubject, streams, utf8, type Certificate, type StoredMessage } from "@candor/contract";
import { readLast, type Link, type Publisher } from "@candor/bus";
import { decodeCertificate, encodeCertificate, openCheckpoint, signCheckpoint, type Checkpoint } from "@candor/ledger";
import type { CheckpointStore } from "./checkpointer.js";
import type { GuardIdentity } from "./guard-identity.js";

const certificateHeader = "Candor-Certificate";
const decoder = new TextDecoder();

/** The value of a header in a stored header block; undefined if it has none of that name. */
function headerValue(block: Uint8Array | undefined, name: string): string | undefined {
  const lines = decoder.decode(block ?? new Uint8Array()).split("\r\n");
  const line = lines.find((text) => text.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return line?.slice(name.length + 1).trim();
}

function certificateOf(message: StoredMessage, lane: number): Certificate {
  const text = headerValue(message.headers, certificateHeader);
  if (text !== undefined) return decodeCertificate(text);
  throw new CandorError("untrusted-key", `The checkpoint of lane ${lane} comes without its guard's certificate.`);
}

function laneChecked(checkpoint: Checkpoint, lane: number): Checkpoint {
  if (checkpoint.lane === lane) return checkpoint;
  throw new CandorError("subject-mismatch", `The checkpoint of lane ${lane} is for lane ${checkpoint.lane}.`);
}

/** The checkpoints of a lane on the verdict stream. */
export function openCheckpointStore(
  { link, publisher, identity }: { link: Link; publisher: Publisher; identity: GuardIdentity },
  lane: number,
): CheckpointStore {
  const subject = checkpointSubject(lane);
  const headers = { [certificateHeader]: encodeCertificate(identity.certificate) };
  return {
    latest: async () => {
      const message = await readLast(link, streams.verdicts, subject);
      if (message === undefined) return undefined;
      const note = decoder.decode(message.data);
      const checkpoint = openCheckpoint(note, identity.operator, certificateOf(message, lane));
      return { seq: message.seq, checkpoint: laneChecked(checkpoint, lane) };
    },
    store: async (checkpoint, after) => {
      const bytes = utf8(signCheckpoint(checkpoint, identity));
      const outcome = await publisher.publish({ subject, bytes, headers, expect: { sequence: after } });
      return outcome.type === "stored" ? outcome.seq : undefined;
    },
  };
}
