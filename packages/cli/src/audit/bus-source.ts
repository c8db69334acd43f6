import type { Bus } from "@candor/bus";
import { streams, type LogEntry, type StoredMessage } from "@candor/contract";
import { neededTasks } from "@candor/guards";
import { admit } from "@candor/ledger";
import { readStreamFacts } from "../stream-facts.js";
import { askLane } from "../embedded/guard-ready.js";
import type { AuditSource, StreamEnd, TakeMessages } from "./audit-source.js";
import { readPastDamage } from "./stream-reading.js";

/**
 * A server as the source of an audit.
 *
 * @param bus connection of an operator or an auditor; an operator gets past damage that an auditor can't
 * @param lanes number of lanes of the log
 */
export function openBusSource(bus: Bus, lanes: number): AuditSource {
  const readAll = async (stream: string, from: number, take: TakeMessages): Promise<StreamEnd> => {
    // A stream that is gone altogether is as one of which nothing is left.
    const facts = await readStreamFacts(bus, stream);
    const { lastSeq, lostBytes } = facts ?? { lastSeq: 0, lostBytes: 0 };
    if (from <= lastSeq) await readPastDamage(bus, { stream, from, to: lastSeq, take });
    return { lastSeq, lostBytes };
  };

  const readTask = async (lane: number, run: string, task: string, belowSeq: number): Promise<StoredMessage[]> => {
    const found: StoredMessage[] = [];
    await readPastDamage(bus, {
      stream: streams.log,
      filter: `candor.log.${lane}.${run}.${task}.>`,
      from: 1,
      to: belowSeq - 1,
      take: (batch) => {
        // Copies: a view would hold the whole piece that the message arrived in.
        for (const message of batch) found.push({ ...message, data: Uint8Array.from(message.data) });
        return undefined;
      },
    });
    return found;
  };

  return {
    lanes,
    readLog: (take) => readAll(streams.log, 1, take),
    logEnd: async () => (await readStreamFacts(bus, streams.log))?.lastSeq ?? 0,
    readRecords: (from, take) => readAll(streams.verdicts, from, take),
    history: async (lane, need, belowSeq): Promise<readonly LogEntry[]> => {
      const parts = neededTasks(need).map((part) => readTask(lane, need.run, part, belowSeq));
      const messages = (await Promise.all(parts)).flat();
      return messages.sort((a, b) => a.seq - b.seq).map(admit);
    },
    isGuarded: async (lane) => (await askLane(bus, lane))?.state === "live",
  };
}
