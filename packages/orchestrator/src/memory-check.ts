import { CandorError, parseVerdictSubject } from "@candor/contract";
import type { OwnIntent, Recollection, SeenCheckpoint, SeenMessage } from "./memory-file.js";
import { lasting } from "./time-limit.js";

/** What is there now, asked of the server. */
export interface LogPort {
  /** Stream sequence of the newest message of the verdict stream; 0 for an empty one. */
  readonly lastVerdict: () => Promise<number>;
  /** The message of the verdict stream at a sequence. */
  readonly seen: (sequence: number) => Promise<SeenMessage | undefined>;
  readonly lastCheckpoint: (lane: number) => Promise<SeenCheckpoint | undefined>;
  /** The last message on the subject of a task's intents: its sequence, and the hex of its event's hash. */
  readonly lastIntent: (intent: OwnIntent) => Promise<{ readonly sequence: number; readonly hash: string } | undefined>;
}

interface Difference {
  readonly lane: number | undefined;
  readonly sequence: number;
  readonly remembered: string;
  readonly found: string;
}

/** Newest intents that are looked up at a connect; older ones lie below them in the same log. */
const mostIntents = 64;
const mostLagMs = 3_000;

function rolledBack(difference: Difference, path: string | undefined): CandorError {
  const { lane, sequence, remembered, found } = difference;
  const where = lane === undefined ? "" : ` in lane ${lane}`;
  const file =
    path === undefined ? "" : ` If the operator restored it on purpose, move ${path} away and connect again.`;
  return new CandorError(
    "log-rolled-back",
    `The log is older than what this orchestrator has seen of it: at sequence ${sequence}${where} it remembers ${remembered}, and there is ${found}. Act on no verdict; tell the operator.${file}`,
    { details: { ...difference } },
  );
}

async function verdictDifference(seen: SeenMessage, port: LogPort): Promise<Difference | undefined> {
  const { sequence, subject, hash } = seen;
  const lane = parseVerdictSubject(subject)?.lane;
  const last = await port.lastVerdict();
  if (last < sequence) return { lane, sequence, remembered: `a verdict on ${subject}`, found: `nothing past ${last}` };
  if ((await port.seen(sequence))?.hash === hash) return undefined;
  return { lane, sequence, remembered: `a verdict on ${subject}`, found: "another message" };
}

async function checkpointDifference(
  lane: number,
  seen: SeenCheckpoint,
  port: LogPort,
): Promise<Difference | undefined> {
  const there = await port.lastCheckpoint(lane);
  const remembered = `a checkpoint over ${seen.size} messages with root ${seen.root}`;
  const different = (found: string): Difference => ({ lane, sequence: seen.sequence, remembered, found });
  if (there === undefined) return different("no checkpoint");
  if (there.size < seen.size) return different(`one over ${there.size} messages`);
  if (there.size === seen.size && there.root !== seen.root) return different(`one with root ${there.root}`);
  if (there.sequence < seen.sequence) return different(`none past ${there.sequence}`);
  return (await port.seen(seen.sequence))?.hash === seen.hash ? undefined : different("another message");
}

async function intentDifference(intent: OwnIntent, port: LogPort): Promise<Difference | undefined> {
  const there = await port.lastIntent(intent);
  const { lane, sequence } = intent;
  const remembered = `its own intent ${intent.control} of ${intent.run}/${intent.task}`;
  if (there === undefined) return { lane, sequence, remembered, found: "no intent of that task" };
  if (there.sequence < sequence) {
    return { lane, sequence, remembered, found: `one at sequence ${there.sequence} as the last` };
  }
  if (there.sequence > sequence || there.hash === intent.hash) return undefined;
  return { lane, sequence, remembered, found: "another intent" };
}

/**
 * Compares what is remembered of a log with what is there (B9). A log and its verdicts that were restored together
 * from an old copy agree with each other, so that only those who remember can tell.
 *
 * What is checked: that the last verdict seen, the record at it, each lane's last checkpoint and the newest own intents are
 * still there, unchanged. A lane's larger checkpoint is taken on the word of the guard that signed it: that its tree
 * continues the remembered one (an RFC 6962 consistency proof) is not checked, nor is any witness asked. So a guard's
 * key in wrong hands, together with the store, can show another history from the remembered checkpoint on.
 *
 * @param path of the memory file, for the message
 * @param patienceMs how long a difference must last, since a replica may be behind
 * @throws CandorError `log-rolled-back`, with lane, sequence, and what was remembered and found in its details
 */
export async function compareWithLog(
  recollection: Recollection,
  port: LogPort,
  path: string | undefined,
  patienceMs = mostLagMs,
): Promise<void> {
  const { verdict, lanes, intents } = recollection;
  const newest = Object.values(intents)
    .sort((a, b) => b.sequence - a.sequence)
    .slice(0, mostIntents);
  const checks = [
    ...(verdict === undefined ? [] : [() => verdictDifference(verdict, port)]),
    ...Object.entries(lanes).map(
      ([lane, seen]) =>
        () =>
          checkpointDifference(Number(lane), seen, port),
    ),
    ...newest.map((intent) => () => intentDifference(intent, port)),
  ];
  const found = await Promise.all(checks.map((check) => lasting(check, patienceMs)));
  const difference = found.find((one) => one !== undefined);
  if (difference !== undefined) throw rolledBack(difference, path);
}
