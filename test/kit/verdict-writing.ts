import { expect } from "vitest";
import { VerdictWriter, type Bus, type UnsignedRecord, type VerdictWriterOptions } from "@candor/bus";
import {
  CandorError,
  decodeSigned,
  decodeValue,
  encodeCanonical,
  streams,
  verdictSubject,
  type Certificate,
} from "@candor/contract";
import { storedMessages } from "./stored-messages.js";

export const writerLane = 3;
/** The subject of a task's records. */
export const subjectOf = (task: number): string =>
  verdictSubject({ lane: writerLane, run: "r", task: `t${task}`, judge: "disclosure" });

/** Stands in for a verdict: the writer looks at nothing but the ordinal. */
export function record(task: number, ordinal: number, text = "same"): UnsignedRecord {
  return { kind: "verdict", subject: subjectOf(task), ordinal, body: encodeCanonical({ ordinal, task, text }) };
}

/** What a fold of some log would bring forth: records of several subjects, mixed. */
export function foldOutput(tasks: number, each: number): UnsignedRecord[] {
  return Array.from({ length: each }, (_, i) =>
    Array.from({ length: tasks }, (__, task) => record(task, i + 1)),
  ).flat();
}

const certificate = (name: string): Certificate => ({
  role: "guard",
  name,
  key: "U".padEnd(56, "A"),
  signature: new Uint8Array(64),
});

export interface Writing {
  readonly writer: VerdictWriter;
  readonly divergences: CandorError[];
  readonly faults: CandorError[];
}

/** A writer of a guard, and what it complains of. */
export function writing(bus: Bus, name: string, options: Partial<VerdictWriterOptions> = {}): Writing {
  const divergences: CandorError[] = [];
  const faults: CandorError[] = [];
  const writer = new VerdictWriter(bus, {
    lane: writerLane,
    certificate: certificate(name),
    sign: () => new Uint8Array(64).fill(name.charCodeAt(1)),
    onDivergence: (error) => divergences.push(error),
    onFault: (error) => faults.push(error),
    answerMs: 500,
    ...options,
  });
  return { writer, divergences, faults };
}

export interface Found {
  readonly subject: string;
  readonly seq: number;
  readonly ordinal: number;
  readonly guard: string;
}

/** Everything on the verdict stream, by place and guard. */
export async function storedRecords(bus: Bus): Promise<Found[]> {
  const messages = await storedMessages(bus, streams.verdicts);
  return messages.map(({ subject, seq, data }) => {
    const { body, certificate: by } = decodeSigned(data);
    const { ordinal = 1 } = decodeValue(body) as { ordinal?: number };
    return { subject, seq, ordinal, guard: by.name };
  });
}

/** B5: each record of every subject once, in order. */
export function expectExactlyOnce(found: readonly Found[], tasks: number, each: number): void {
  const bySubject = new Map<string, number[]>();
  for (const { subject, ordinal } of found) bySubject.set(subject, [...(bySubject.get(subject) ?? []), ordinal]);
  const wanted = Array.from({ length: each }, (_, i) => i + 1);
  for (let task = 0; task < tasks; task += 1) expect(bySubject.get(subjectOf(task)), subjectOf(task)).toEqual(wanted);
  expect(found).toHaveLength(tasks * each);
}

/** Repeats until the condition holds. @throws CandorError `defect` after 45 s */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 45_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new CandorError("defect", `It did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
