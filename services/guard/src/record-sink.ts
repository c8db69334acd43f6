import { CandorError, decodeSigned, equalBytes, isCandorError } from "@candor/contract";
import type { Link, Publisher } from "@candor/bus";
import { setTimeout as pause } from "node:timers/promises";
import type { GuardIdentity } from "./guard-identity.js";
import { recordBody, signRecord } from "./guard-record.js";
import type { GuardOutput, RecordSink, SinkEvents } from "./lane-ports.js";

const most = 512;

/** Interim. */
export function openRecordSink(
  link: Link,
  publisher: Publisher,
  identity: GuardIdentity,
  events: SinkEvents,
): RecordSink {
  const tails = new Map<string, Promise<number>>();
  let open = 0;
  let closed = false;
  let idle: (() => void)[] = [];
  const store = async (output: GuardOutput, after: number): Promise<number> => {
    const body = recordBody(output);
    const bytes = signRecord(identity, output.type, body);
    while (!closed) {
      try {
        const outcome = await publisher.publish({ subject: output.subject, bytes, expect: { sequence: after } });
        if (outcome.type === "stored") {
          events.metrics[output.type === "verdict" ? "verdicts" : "quarantined"] += 1;
          return outcome.seq;
        }
        if (outcome.type === "lost" && outcome.last !== undefined) {
          if (equalBytes(decodeSigned(outcome.last.data).body, body)) {
            events.metrics.adopted += 1;
            return outcome.last.seq;
          }
          events.onDivergence(output.subject, new CandorError("guard-divergence", `differs on ${output.subject}`));
          return outcome.last.seq;
        }
      } catch (error) {
        if (!isCandorError(error, "server-unreachable", "publish-unconfirmed", "store-full")) throw error;
      }
      await pause(100);
    }
    return 0;
  };
  return {
    put: (output) => {
      open += 1;
      const tail = (tails.get(output.subject) ?? Promise.resolve(0)).then((after) => store(output, after));
      tails.set(output.subject, tail);
      tail
        .catch(events.onFault)
        .finally(() => {
          open -= 1;
          if (open === most / 2) events.onRoom();
          if (open === 0) for (const resolve of idle.splice(0)) resolve();
        })
        .catch(events.onFault);
    },
    get isFull() {
      return open >= most;
    },
    get underWay() {
      return open;
    },
    isStandby: false,
    settled: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
    close: () => {
      closed = true;
      idle = [];
    },
  };
}
