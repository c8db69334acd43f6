import { setTimeout as pause } from "node:timers/promises";
import { CandorError, streams } from "@candor/contract";
import type { Link } from "../link.js";
import { readDirect } from "../look-up.js";
import type { Publisher } from "../publisher.js";

/** What storing and reading evidence needs of the server. */
export interface EvidencePort {
  /**
   * Stores bytes on a write-once subject.
   * @returns undefined once they are stored, by this call or another; what is there instead where it is something else
   */
  readonly store: (subject: string, bytes: Uint8Array) => Promise<Uint8Array | undefined>;
  /** The message on an exact subject, undefined if there is none. */
  readonly read: (subject: string) => Promise<Uint8Array | undefined>;
}

/** A piece is made of hundreds of messages; on a slow disk the last of a window waits for all before it. */
const storeMs = 30_000;
/** A replica may be so far behind the leader that stored it. */
const lagMs = 2_000;
const againMs = 50;

/** Evidence over a connection. @param publisher only for who stores */
export function evidencePort(link: Link, publisher?: Publisher): EvidencePort {
  return {
    store: async (subject, bytes) => {
      if (publisher === undefined)
        throw new CandorError("permission-denied", "This connection only reads evidence; agents and probers store it.");
      const outcome = await publisher.publish({ subject, bytes, timeoutMs: storeMs });
      return outcome.type === "taken" ? outcome.existing.data : undefined;
    },
    read: async (subject) => {
      // Direct gets for everybody: the leader would wrap each chunk in base64.
      const deadline = performance.now() + (link.nc.info?.cluster === undefined ? 0 : lagMs);
      for (;;) {
        const found = await readDirect(link, streams.evidence, subject, false);
        if (found !== undefined || performance.now() >= deadline) return found?.data;
        await pause(againMs);
      }
    },
  };
}
