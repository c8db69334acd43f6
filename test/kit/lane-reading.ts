import { LaneReader, type Bus, type LaneReaderOptions } from "@candor/bus";
import { streams, type CandorError, type StoredMessage } from "@candor/contract";

/** A reader of the log at work, what it has read, and why it stopped. */
export interface LaneReading {
  readonly reader: LaneReader;
  readonly messages: StoredMessage[];
  readonly halts: CandorError[];
}

/** Starts to read the log, with heartbeats that a test can wait for. */
export function readLane(bus: Bus, filter: string, options: Partial<LaneReaderOptions> = {}): LaneReading {
  const messages: StoredMessage[] = [];
  const halts: CandorError[] = [];
  const reader = new LaneReader(bus, {
    stream: streams.log,
    filter,
    heartbeatMs: 200,
    onMessages: (batch) => {
      messages.push(...batch);
    },
    onHalt: (error) => halts.push(error),
    ...options,
  });
  reader.start();
  return { reader, messages, halts };
}
