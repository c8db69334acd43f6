import { hex, type Conflict, type VerdictBody } from "@candor/contract";
import { FindingList, type Judgement } from "./judgement.js";
import type { EvidenceLookUp } from "./output.js";

/** A result as far as others can contradict it. */
export interface BoardedResult {
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
  readonly claim: "pass" | "fail";
  /** Log sequence of its report. */
  readonly seq: number;
  /** What it is about, as its brief says. */
  readonly examines: readonly string[];
  /** What it points to. */
  readonly evidence: readonly EvidenceLookUp[];
}

/** Results on one subject: something that was examined, or a piece of evidence. */
interface Subject {
  readonly pass: Set<string>;
  readonly fail: Set<string>;
}

/** Pairs that are told one by one; the others are counted as they are met. */
const mostPairs = 1_000;
const mostListed = 20;
const mostShared = 8;
const mostEvidence = 16;

/**
 * Results of one run beside each other (T4): whoever says pass where another says fail, about the same thing, is in
 * conflict. Nothing is averaged, and no side is taken.
 */
export class ResultBoard {
  readonly #results = new Map<string, BoardedResult>();
  readonly #subjects = new Map<string, Subject>();
  /** Subjects with results on both sides. */
  readonly #contested = new Set<string>();

  /** The epoch whose result stands for a task. */
  epochOf(task: string): number | undefined {
    return this.#results.get(task)?.epoch;
  }

  put(result: BoardedResult): void {
    this.withdraw(result.task);
    this.#results.set(result.task, result);
    for (const name of subjectsOf(result)) {
      const subject = this.#subjects.get(name) ?? { pass: new Set(), fail: new Set() };
      this.#subjects.set(name, subject);
      subject[result.claim].add(result.task);
      if (subject.pass.size > 0 && subject.fail.size > 0) this.#contested.add(name);
    }
  }

  /** Takes a result back: the task was delegated anew, or nobody uses what came of it. Returns whether there was one. */
  withdraw(task: string): boolean {
    const result = this.#results.get(task);
    if (result === undefined) return false;
    this.#results.delete(task);
    for (const name of subjectsOf(result)) {
      const subject = this.#subjects.get(name);
      if (subject === undefined) continue;
      subject[result.claim].delete(task);
      if (subject.pass.size === 0 || subject.fail.size === 0) this.#contested.delete(name);
      if (subject.pass.size + subject.fail.size === 0) this.#subjects.delete(name);
    }
    return true;
  }

  /** What the results come to together. */
  judge(): BoardJudgement {
    const { pairs, more } = this.#pairs();
    const findings = new FindingList();
    for (const { pass, fail } of pairs)
      findings.add("results-conflict", `${pass.task} ${fail.task}`, Math.max(pass.seq, fail.seq));
    const listed = pairs.slice(0, mostListed);
    const conflicting = pairs.length > 0;
    return {
      judgement: {
        verdict: conflicting ? "RESULTS_CONFLICT" : "RESULTS_CONSISTENT",
        action: conflicting ? "verify" : "proceed",
        final: true,
        findings: findings.items,
        dropped: more + findings.dropped,
      },
      conflicts: listed.map(conflictOf),
      first: pairs.reduce((least, { pass, fail }) => Math.min(least, pass.seq, fail.seq), Number.MAX_SAFE_INTEGER),
    };
  }

  #pairs(): { readonly pairs: Pair[]; readonly more: number } {
    const pairs = new Map<string, Pair>();
    let more = 0;
    for (const name of this.#contested) {
      const { pass, fail } = this.#subjects.get(name) ?? { pass: new Set<string>(), fail: new Set<string>() };
      for (const one of pass) {
        for (const other of fail) {
          const known = pairs.get(`${one} ${other}`);
          const [a, b] = [this.#results.get(one), this.#results.get(other)];
          if (known !== undefined) known.on.push(name);
          else if (a === undefined || b === undefined) continue;
          else if (pairs.size < mostPairs) pairs.set(`${one} ${other}`, { pass: a, fail: b, on: [name] });
          else more += 1;
        }
      }
    }
    return { pairs: [...pairs.values()], more };
  }
}

interface BoardJudgement {
  readonly judgement: Judgement;
  readonly conflicts: Conflict[];
  /** Log sequence of the first report of those in conflict. */
  readonly first: number;
}

interface Pair {
  readonly pass: BoardedResult;
  readonly fail: BoardedResult;
  /** Names of the subjects that both are about. */
  readonly on: string[];
}

const examined = "examines ";
const pointedTo = "evidence ";

/** Each once: a brief may name a thing twice. */
function subjectsOf({ examines, evidence }: BoardedResult): ReadonlySet<string> {
  return new Set([
    ...examines.map((name) => `${examined}${name}`),
    ...evidence.map(({ hash }) => `${pointedTo}${hex(hash)}`),
  ]);
}

function conflictOf({ pass, fail, on }: Pair): Conflict {
  const party = ({ task, epoch, actor }: BoardedResult) => ({ task, epoch, actor });
  const all = [pass, fail].flatMap(({ task, evidence }) => evidence.map(({ actor, hash }) => ({ task, actor, hash })));
  const isShared = ({ hash }: { readonly hash: Uint8Array }): boolean => on.includes(`${pointedTo}${hex(hash)}`);
  return {
    pass: party(pass),
    fail: party(fail),
    on: on
      .filter((name) => name.startsWith(examined))
      .map((name) => name.slice(examined.length))
      .slice(0, mostShared),
    evidence: [...all.filter(isShared), ...all.filter((piece) => !isShared(piece))].slice(0, mostEvidence),
  };
}

/** True for a verdict on a task, and for one on its run that names it: what is said of a pair is said of both. */
export function concerns({ task, judge, findings }: VerdictBody, about: string): boolean {
  if (task === about) return true;
  return judge === "result" && findings.some(({ about: pair = "" }) => pair.split(" ").includes(about));
}
