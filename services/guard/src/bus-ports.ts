import { isCandorError, streams, type Logger } from "@candor/contract";
import { LaneReader, Publisher, type Link } from "@candor/bus";
import { openCheckpointStore } from "./checkpoint-store.js";
import { lookUpEvidence } from "./evidence-look-up.js";
import type { GuardIdentity } from "./guard-identity.js";
import type { LanePorts, LaneSource, SourceEvents } from "./lane-ports.js";
import { asLogFault, readLogState, requirePlace } from "./log-place.js";
import { openRecordSink } from "./record-sink.js";
import { readHistory } from "./run-history.js";
import type { SignatureThreads } from "./signature-threads.js";
import { timerEvent } from "./timer-event.js";

export interface BusPortsOptions {
  readonly link: Link;
  readonly identity: GuardIdentity;
  readonly logger: Logger;
  readonly standbyMs: number;
  readonly threads: SignatureThreads;
}

/** What the lanes of a guard need of the server, over one connection. */
export interface BusPorts {
  readonly lane: (lane: number) => LanePorts;
  readonly close: () => void;
}

function openSource(link: Link, lane: number, logger: Logger, events: SourceEvents): LaneSource {
  const reader: LaneReader = new LaneReader(link, {
    stream: streams.log,
    filter: `candor.log.${lane}.>`,
    logger,
    checkBefore: async () => {
      const { lastSeq, serverMs } = await readLogState(link);
      events.onServerTime(serverMs);
      const place = events.knownPlace();
      if (place !== undefined) await requirePlace(link, lane, place, lastSeq);
    },
    onOpen: events.onReading,
    onMessages: (batch) => events.onMessages(batch, reader.pending),
    onHalt: (error) => {
      events.onFault(asLogFault(lane, error));
    },
  });
  reader.start();
  reader.caughtUp().then(events.onCaughtUp, () => undefined);
  return {
    get pending() {
      return reader.pending;
    },
    get trouble() {
      return reader.trouble;
    },
    close: () => reader.close(),
  };
}

export function openLanePorts({ link, identity, logger, standbyMs, threads }: BusPortsOptions): BusPorts {
  const publisher = new Publisher(link, logger);
  const aborter = new AbortController();
  return {
    lane: (lane) => ({
      openSource: (events) => openSource(link, lane, logger, events),
      openSink: (events) => openRecordSink({ link, lane, identity, standbyMs, logger }, events),
      checkpoints: openCheckpointStore({ link, publisher, identity }, lane),
      readHistory: (need, belowSeq) => readHistory({ link, lane, signal: aborter.signal, logger }, need, belowSeq),
      threads,
      publishTimer: (request, atMs) => {
        lookUpEvidence(link, request)
          .then((found) => publisher.publish(timerEvent(request, atMs, found)))
          .catch((error: unknown) => {
            // It goes out again as long as the log does not show it.
            const code = isCandorError(error) ? error.code : "defect";
            logger.warn({ lane, code, timer: request.timer }, "a timer could not be stored yet");
          });
      },
    }),
    close: () => {
      aborter.abort();
      publisher.close();
    },
  };
}
