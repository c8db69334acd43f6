import type { Bus } from "@candor/bus";
import { intentWord, runTask, streams, type StoredMessage } from "@candor/contract";
import { admit } from "@candor/ledger";
import { readMessages } from "./stream-messages.js";

/** A run, as the intents about the run itself tell. */
export interface ListedRun {
  readonly run: string;
  readonly fleet: string;
  readonly lane: number;
  /** Log time in ms. */
  readonly openedMs: number;
  /** With what it was closed; undefined while it is open. */
  readonly closed: string | undefined;
}

/** Runs in the order in which they were opened, from the intents about them. */
export function runsIn(messages: readonly StoredMessage[]): readonly ListedRun[] {
  const runs = new Map<string, ListedRun>();
  for (const message of messages) {
    const entry = admit(message);
    if (entry.type !== "event") continue;
    const { event, timeMs } = entry;
    const known = runs.get(event.run);
    if (entry.kind === "run-open" && known === undefined) {
      const lane = Number(message.subject.split(".")[2]);
      runs.set(event.run, { run: event.run, fleet: event.actor, lane, openedMs: timeMs, closed: undefined });
    } else if (entry.kind === "run-close" && known?.fleet === event.actor) {
      runs.set(event.run, { ...known, closed: entry.payload.state });
    }
  }
  return [...runs.values()];
}

/** Every run that the log holds. @param bus connection of the operator or an auditor */
export async function listRuns(bus: Bus): Promise<readonly ListedRun[]> {
  return runsIn(await readMessages(bus, streams.log, `candor.log.*.*.${runTask}.orch.*.${intentWord}`));
}
