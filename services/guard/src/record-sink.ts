import { guardRecordMessage, type Logger } from "@candor/contract";
import { VerdictWriter, type Link } from "@candor/bus";
import type { GuardIdentity } from "./guard-identity.js";
import { recordBody } from "./record-body.js";
import type { RecordSink, SinkEvents } from "./lane-ports.js";
import { Settlement } from "./settlement.js";

/** Records that may wait to be stored before the lane stops folding. */
const mostUnderWay = 1_024;

export interface RecordSinkOptions {
  readonly link: Link;
  readonly lane: number;
  readonly identity: GuardIdentity;
  readonly standbyMs: number;
  readonly logger: Logger;
}

/** Stores what a lane's fold says, through the bus's verdict writer. */
export function openRecordSink(options: RecordSinkOptions, events: SinkEvents): RecordSink {
  const { link, lane, identity, standbyMs, logger } = options;
  const settlement = new Settlement();
  let waitsForRoom = false;
  const writer = new VerdictWriter(link, {
    lane,
    certificate: identity.certificate,
    sign: (kind, body) => identity.signer.sign(guardRecordMessage(kind, body)),
    onDivergence: events.onDivergence,
    onFault: (error) => {
      settlement.giveUp();
      events.onFault(error);
    },
    onProgress: () => {
      if (!waitsForRoom || writer.pending > mostUnderWay / 2) return;
      waitsForRoom = false;
      events.onRoom();
    },
    standbyMs,
    logger,
  });
  return {
    put: (output) => {
      const { type: kind, subject } = output;
      const ordinal = output.type === "verdict" ? output.body.ordinal : 1;
      writer.write({ kind, subject, ordinal, body: recordBody(output), onSettled: settlement.begin() });
    },
    get isFull() {
      waitsForRoom ||= writer.pending >= mostUnderWay;
      return waitsForRoom;
    },
    get underWay() {
      return writer.pending;
    },
    get isStandby() {
      return writer.isStandby;
    },
    get counts() {
      return writer.stats;
    },
    settled: () => settlement.settled(),
    close: () => {
      settlement.giveUp();
      writer.close();
    },
  };
}
