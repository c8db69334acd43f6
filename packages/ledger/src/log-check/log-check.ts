import type { StoredMessage } from "@candor/contract";
import { admit } from "../admit.js";
import type { Checkpoint } from "../checkpoint.js";
import type { MerkleState } from "../merkle/tree.js";
import { createChainCheck, type ChainFinding } from "./chain-check.js";
import { createLaneCheck, type LaneCheck, type LogFinding } from "./lane-check.js";

export interface LogReport {
  /** How many messages were read. */
  readonly messages: number;
  /** How many of them are no events. */
  readonly refused: number;
  /** What shows that the log was cut, changed or rolled back, in stream order. */
  readonly findings: readonly LogFinding[];
  /** What is wrong within chains. Authors can do that too, so by itself it does not speak against the log. */
  readonly chains: readonly ChainFinding[];
  /** Tree and last position of each lane. */
  readonly lanes: ReadonlyMap<number, { readonly tree: MerkleState; readonly position: number }>;
}

export interface LogCheck {
  /** Takes the next message in stream order. */
  add(message: StoredMessage): void;
  /** Ends the check. @param lastSeq last sequence of the stream as the server says; by default that of the last message */
  end(lastSeq?: number): LogReport;
}

export interface LogCheckOptions {
  /** Only some lanes are read, so that a missing sequence says nothing. */
  readonly filtered?: boolean;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

const laneToken = /^candor\.log\.(?<lane>\d{1,5})\./;

/** The most likely culprits first: no event any more; disowned by the next event and at odds with the one before; disowned. */
function suspectsOf(refusedAt: readonly number[], chains: readonly ChainFinding[]): number[] {
  const broken = chains.filter(({ code }) => code === "chain-broken");
  const showing = new Set(broken.map(({ seq }) => seq));
  const disowned = broken.flatMap(({ before }) => before ?? []);
  return [...refusedAt, ...disowned.filter((seq) => showing.has(seq)), ...disowned];
}

interface Evidence {
  readonly gaps: readonly Gap[];
  readonly suspects: readonly number[];
  readonly filtered: boolean;
}

/** Names the message in question where a gap in the stream or a chain gives it away. */
function locate(finding: LogFinding, { gaps, suspects, filtered }: Evidence): LogFinding {
  const { code, from, to, sentence } = finding;
  if (code === "log-rolled-back") return finding;
  const gap = code === "log-truncated" ? gaps.find((one) => one.from >= from && one.from <= to) : undefined;
  if (gap !== undefined) {
    const missing = gap.from === gap.to ? `sequence ${gap.from} is` : `sequences ${gap.from} to ${gap.to} are`;
    return { ...finding, seq: gap.from, sentence: `${sentence} In the stream ${missing} missing.` };
  }
  // With every sequence there, nothing was taken out: something else stands in its place.
  const told: LogFinding = filtered ? finding : { ...finding, code: "log-altered" };
  const suspect = from === to ? undefined : suspects.find((seq) => seq >= from && seq <= to);
  if (suspect === undefined) return told;
  return { ...told, seq: suspect, sentence: `${sentence} Most likely it is sequence ${suspect}.` };
}

/**
 * Checks a log message by message, without keeping it (B9): that no sequence is missing, that every lane has the Merkle roots
 * which its checkpoints pin, and that authors' chains are whole.
 *
 * @param checkpoints of all lanes, their signatures checked already
 */
export function createLogCheck(
  checkpoints: readonly Checkpoint[],
  { filtered = false }: LogCheckOptions = {},
): LogCheck {
  const lanes = new Map<number, LaneCheck>();
  const chains = createChainCheck();
  const gaps: Gap[] = [];
  const findings: LogFinding[] = [];
  const refusedAt: number[] = [];
  let messages = 0;
  let last = 0;

  const laneCheck = (lane: number): LaneCheck => {
    const existing = lanes.get(lane);
    if (existing !== undefined) return existing;
    const created = createLaneCheck(
      lane,
      checkpoints.filter((one) => one.lane === lane),
    );
    lanes.set(lane, created);
    return created;
  };
  for (const { lane } of checkpoints) laneCheck(lane);

  const altered = (seq: number, sentence: string): void => {
    findings.push({ code: "log-altered", lane: undefined, seq, from: seq, to: seq, sentence });
  };

  const unexplained = ({ from, to }: Gap): LogFinding => ({
    code: "log-truncated",
    lane: undefined,
    seq: from,
    from,
    to,
    sentence: from === to ? `Sequence ${from} is missing.` : `Sequences ${from} to ${to} are missing.`,
  });

  return {
    add(message) {
      const { seq, subject } = message;
      messages++;
      if (seq <= last) {
        altered(seq, `Sequence ${seq} follows ${last}: the log runs backwards.`);
        return;
      }
      if (seq > last + 1 && !filtered) gaps.push({ from: last + 1, to: seq - 1 });
      last = seq;
      const lane = laneToken.exec(subject)?.groups?.["lane"];
      if (lane === undefined) {
        altered(seq, `Sequence ${seq} lies under ${subject.slice(0, 100)}, which is no subject of the log.`);
        return;
      }
      laneCheck(Number(lane)).add(message);
      const entry = admit(message);
      if (entry.type === "event") chains.add(Number(lane), entry);
      else refusedAt.push(seq);
    },
    end(lastSeq = last) {
      if (lastSeq > last && !filtered) gaps.push({ from: last + 1, to: lastSeq });
      const chainFindings = chains.end();
      const evidence = { gaps, suspects: suspectsOf(refusedAt, chainFindings), filtered };
      const states = new Map<number, { readonly tree: MerkleState; readonly position: number }>();
      for (const [lane, check] of lanes) {
        const { finding, ...state } = check.end(lastSeq);
        states.set(lane, state);
        if (finding !== undefined) findings.push(locate(finding, evidence));
      }
      const explained = new Set(findings.map(({ seq }) => seq));
      findings.push(...gaps.filter(({ from }) => !explained.has(from)).map(unexplained));
      return {
        messages,
        refused: refusedAt.length,
        findings: findings.sort((a, b) => a.seq - b.seq),
        chains: chainFindings,
        lanes: states,
      };
    },
  };
}

/**
 * Checks a whole log that is at hand.
 *
 * @param entries messages in stream order
 * @param checkpoints of all lanes, their signatures checked already
 * @param options `lastSeq`: last sequence of the stream as the server says; `filtered`: only some lanes are read
 */
export function checkLog(
  entries: Iterable<StoredMessage>,
  checkpoints: readonly Checkpoint[],
  options: LogCheckOptions & { readonly lastSeq?: number } = {},
): LogReport {
  const check = createLogCheck(checkpoints, options);
  for (const message of entries) check.add(message);
  return check.end(options.lastSeq);
}
