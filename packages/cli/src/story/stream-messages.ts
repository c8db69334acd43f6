import type { Bus } from "@candor/bus";
import type { StoredMessage } from "@candor/contract";
import { readPastDamage } from "../audit/stream-reading.js";
import { readStreamFacts } from "../stream-facts.js";

/** All messages of a stream that a subject filter lets through, in order. @throws CandorError as `readPastDamage` */
export async function readMessages(bus: Bus, stream: string, filter: string): Promise<readonly StoredMessage[]> {
  const facts = await readStreamFacts(bus, stream);
  const found: StoredMessage[] = [];
  if (facts === undefined || facts.lastSeq === 0) return found;
  await readPastDamage(bus, {
    stream,
    filter,
    from: 1,
    to: facts.lastSeq,
    take: (batch) => {
      // Copies: a view would hold the whole piece that the message arrived in.
      for (const message of batch) found.push({ ...message, data: Uint8Array.from(message.data) });
      return undefined;
    },
  });
  return found;
}
