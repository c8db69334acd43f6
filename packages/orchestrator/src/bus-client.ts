import { evidencePort, isConnected, Publisher, readLast, readStreamState, type Bus } from "@candor/bus";
import {
  CandorError,
  checkpointSubject,
  dataKeySubject,
  decodeBody,
  decodeFrame,
  eventHash,
  intentSubject,
  intentWord,
  publishedSubject,
  silentLogger,
  stateSubject,
  storedSubject,
  streams,
  type Logger,
  type StoredMessage,
} from "@candor/contract";
import { admit, certificateHeader, decodeCertificate } from "@candor/ledger";
import type { GuardState } from "./decision.js";
import type { FoundIntent, LogClient, StoreOutcome, StoredNote, TaskAddress } from "./log-client.js";
import type { LastProbe, ProbeClient } from "./prober.js";
import { readRecordAt, readRecords } from "./record-stream.js";
import { storedIntentOf } from "./task-line.js";

const requestMs = 5_000;

/**
 * Reads an intent as stored.
 *
 * @throws CandorError `malformed`, `unknown-version` or `unknown-kind` for a message that is none
 */
function foundIntent({ seq, data }: StoredMessage): FoundIntent {
  const { body } = decodeFrame(data.slice());
  const event = decodeBody(body);
  return { intent: storedIntentOf(event, eventHash(body), seq), payload: event.payload };
}

function requireLanes(bus: Bus): number {
  if (bus.lanes !== undefined) return bus.lanes;
  throw new CandorError(
    "not-provisioned",
    'The streams do not say how many lanes there are: run "candor streams apply".',
  );
}

/** What a guard answers about its lane; undefined for anything else. */
function readGuardState(text: string): GuardState | undefined {
  try {
    const { lag, halted } = JSON.parse(text) as { lag?: unknown; halted?: GuardState["halted"] };
    return typeof lag === "number" ? { behind: lag, ...(halted === undefined ? {} : { halted }) } : undefined;
  } catch {
    return undefined;
  }
}

async function readNote({ nc, apiPrefix }: Bus, lane: number): Promise<StoredNote | undefined> {
  const subject = checkpointSubject(lane);
  const request = `${apiPrefix}.DIRECT.GET.${streams.verdicts}.${subject}`;
  const { headers, data } = await nc.request(request, "", { timeout: requestMs }).catch((cause: unknown) => {
    throw new CandorError("server-unreachable", `The server did not answer a look-up of ${subject}: try again.`, {
      cause,
    });
  });
  if (headers?.code === 404) return undefined;
  const sequence = Number(headers?.values("Nats-Sequence").at(-1));
  const certificate = headers?.get(certificateHeader) ?? "";
  return { sequence, subject, data: data.slice(), certificate: decodeCertificate(certificate) };
}

/** The client of an orchestrator over a connection to the server. */
export function createLogClient(bus: Bus, logger: Logger = silentLogger): LogClient {
  const lanes = requireLanes(bus);
  const fleet = bus.identity.name;
  const publisher = new Publisher(bus, logger);

  const lastIntent = async (at: TaskAddress): Promise<FoundIntent | undefined> => {
    const last = await readLast(bus, streams.log, intentSubject({ ...at, fleet }));
    return last && foundIntent(last);
  };

  const storeIntent = async (at: TaskAddress, frame: Uint8Array, expectedSequence: number): Promise<StoreOutcome> => {
    const outcome = await publisher.publish({
      subject: publishedSubject({ role: "orch", actor: fleet, run: at.run, task: at.task, kind: intentWord }),
      bytes: frame,
      expect: { sequence: expectedSequence, subject: intentSubject({ ...at, fleet }) },
    });
    if (outcome.type === "stored") {
      // Another replica said the very same in the same millisecond: it was its intent that won, not this one.
      if (outcome.repeated === true) return { type: "lost", winner: (await lastIntent(at))?.intent };
      return { type: "stored", sequence: outcome.seq };
    }
    const last = outcome.type === "lost" ? outcome.last : outcome.existing;
    if (outcome.type === "lost" && !outcome.certain) throw uncertain(at);
    return { type: "lost", winner: last && foundIntent(last).intent };
  };

  const keepDataKey = async (run: string, key: Uint8Array): Promise<Uint8Array> => {
    const outcome = await publisher.publish({ subject: dataKeySubject({ fleet, run }), bytes: key });
    return outcome.type === "taken" ? outcome.existing.data.slice() : key;
  };

  return {
    lanes,
    isConnected: () => isConnected(bus.nc),
    storeIntent,
    lastIntent,
    records: (filter, { after, signal }) => readRecords(bus, { filter, after, signal, logger }),
    lastRecord: async () => (await readStreamState(bus, streams.verdicts)).lastSeq,
    recordAt: (sequence) => readRecordAt(bus, sequence, logger),
    lastCheckpoint: (lane) => readNote(bus, lane),
    keepDataKey,
    dataKey: async (run) => (await readLast(bus, streams.dataKeys, dataKeySubject({ fleet, run })))?.data.slice(),
    lastOfAgent: async ({ lane, run, task }, actor, kind) => {
      const last = await readLast(bus, streams.log, storedSubject({ lane, role: "agent", actor, run, task, kind }));
      return last && admit({ ...last, data: last.data.slice() });
    },
    evidence: evidencePort(bus, publisher),
    guardState: async (lane, timeoutMs) => {
      try {
        return readGuardState((await bus.nc.request(stateSubject(lane), "", { timeout: timeoutMs })).string());
      } catch {
        return undefined;
      }
    },
    close: async () => {
      publisher.close();
      await bus.close();
    },
  };
}

function uncertain({ run, task }: TaskAddress): CandorError {
  return new CandorError(
    "publish-unconfirmed",
    `An intent of ${run}/${task} got no answer, and another one was stored since: it may lie below that one. Look at where the task stands, then decide again.`,
  );
}

/** The client of a prober over a connection to the server. */
export function createProbeClient(bus: Bus, logger: Logger = silentLogger): ProbeClient {
  const lanes = requireLanes(bus);
  const publisher = new Publisher(bus, logger);
  const address = ({ lane, run, task }: TaskAddress) =>
    ({ lane, role: "probe", actor: bus.identity.name, run, task, kind: "probe" }) as const;
  return {
    lanes,
    lastProbe: async (at): Promise<LastProbe | undefined> => {
      const last = await readLast(bus, streams.log, storedSubject(address(at)));
      if (last === undefined) return undefined;
      const { body } = decodeFrame(last.data.slice());
      const { epoch, seq } = decodeBody(body);
      return { sequence: last.seq, epoch, seq, hash: eventHash(body) };
    },
    storeProbe: async (at, frame, expectedSequence) => {
      const outcome = await publisher.publish({
        subject: publishedSubject(address(at)),
        bytes: frame,
        expect: { sequence: expectedSequence, subject: storedSubject(address(at)) },
      });
      return outcome.type === "stored" ? outcome.seq : undefined;
    },
    close: async () => {
      publisher.close();
      await bus.close();
    },
  };
}
