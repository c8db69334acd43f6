import { CandorError, streams } from "@candor/contract";

const streamByPrefix: readonly (readonly [prefix: string, stream: string])[] = [
  ["candor.log.", streams.log],
  ["candor.vd.", streams.verdicts],
  ["candor.quarantine.", streams.verdicts],
  ["candor.checkpoint.", streams.verdicts],
  ["candor.key.", streams.keys],
  ["candor.evidence.", streams.evidence],
  ["$KV.CANDOR_DATA_KEYS.", streams.dataKeys],
];

/**
 * The stream that stores a subject.
 * @throws CandorError `bad-argument` for a subject that no stream stores, such as one of `candor.in`
 */
export function streamOf(storedSubject: string): string {
  const row = streamByPrefix.find(([prefix]) => storedSubject.startsWith(prefix));
  if (row !== undefined) return row[1];
  throw new CandorError(
    "bad-argument",
    `${storedSubject} is no stored subject: an event published on candor.in is stored on candor.log, so name that one.`,
    { path: "storedSubject" },
  );
}
