import { CandorError, equalBytes, laneOf, liveSubject } from "@candor/contract";
import type { EvidencePort } from "@candor/bus";
import type { Expectation, LiveMessage, LookUpStream, PublishOutcome, Stored, TaskBus } from "../ports.js";

/** What happens to one publish: stored and answered, stored without answer, or gone. */
export type Fate = "stored" | "unanswered" | "gone";

export interface MemoryMessage extends Stored {
  readonly subject: string;
}

const lanes = 16;

function storedUnder(subject: string): string {
  const [, word, role, actor, run, task, kind] = subject.split(".");
  if (word !== "in" || run === undefined) return subject;
  return `candor.log.${laneOf(run, lanes)}.${run}.${String(task)}.${String(role)}.${String(actor)}.${String(kind)}`;
}

function matches(pattern: string, subject: string): boolean {
  const wanted = pattern.split(".");
  const found = subject.split(".");
  return wanted.length === found.length && wanted.every((token, i) => token === "*" || token === found[i]);
}

/** A log in memory that answers, stays silent or is away as a test says. */
export class MemoryBus implements TaskBus {
  readonly messages: MemoryMessage[] = [];
  /** Decides over each publish, in the order in which they arrive. */
  fate: (subject: string, expect: Expectation | undefined) => Fate = () => "stored";
  /** What a publish waits for before it arrives. */
  hold: ((subject: string) => Promise<void>) | undefined;
  /** Nobody answers anything. */
  away = false;
  readonly evidence: EvidencePort = {
    store: async (subject, bytes) => {
      await Promise.resolve();
      if (this.away) throw silence();
      const there = this.#last(subject)?.data;
      if (there === undefined) this.messages.push({ subject, sequence: this.messages.length + 1, data: bytes.slice() });
      return there === undefined || equalBytes(there, bytes) ? undefined : there;
    },
    read: async (subject) => {
      await Promise.resolve();
      if (this.away) throw silence();
      return this.#last(subject)?.data;
    },
  };
  readonly #listeners = new Set<{ pattern: string; listener: (message: LiveMessage) => void }>();
  readonly #reconnected = new Set<() => void>();

  async publish(subject: string, data: Uint8Array, expect?: Expectation): Promise<PublishOutcome> {
    await this.hold?.(subject);
    if (this.away) return { outcome: "later", error: silence() };
    const fate = this.fate(subject, expect);
    if (fate === "gone") return { outcome: "unknown", error: silence() };
    const stored = storedUnder(subject);
    const last = expect && (this.#last(expect.subject)?.sequence ?? 0);
    const isWriteOnce = stored.startsWith("candor.key.") && this.#last(stored) !== undefined;
    if (isWriteOnce || (expect !== undefined && last !== expect.sequence)) {
      if (fate !== "stored") return { outcome: "unknown", error: silence() };
      const existing = isWriteOnce ? this.#last(stored)?.data : undefined;
      return { outcome: "lost", certain: true, ...(existing === undefined ? {} : { existing }) };
    }
    const sequence = this.add(stored, data);
    return fate === "stored" ? { outcome: "stored", sequence } : { outcome: "unknown", error: silence() };
  }

  async last(_stream: LookUpStream, subject: string): Promise<Stored | undefined> {
    await Promise.resolve();
    if (this.away) throw silence();
    return this.#last(subject);
  }

  subscribe(pattern: string, listener: (message: LiveMessage) => void): () => void {
    const entry = { pattern, listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  onReconnect(listener: () => void): () => void {
    this.#reconnected.add(listener);
    return () => this.#reconnected.delete(listener);
  }

  /** Stores a message under a stored subject and delivers it live. */
  add(subject: string, data: Uint8Array): number {
    const sequence = this.messages.length + 1;
    this.messages.push({ subject, sequence, data });
    const isLive = /\.(orch\.[^.]+\.intent|intent|\d+)$/.test(liveSubject(subject));
    for (const { pattern, listener } of isLive && !this.away ? [...this.#listeners] : []) {
      if (matches(pattern, subject)) listener({ subject, sequence, data });
    }
    return sequence;
  }

  reconnect(): void {
    this.away = false;
    for (const listener of this.#reconnected) listener();
  }

  /** Data of the messages whose stored subject matches, in log order. */
  stored(pattern: string): Uint8Array[] {
    return this.messages.filter(({ subject }) => matches(pattern, subject)).map(({ data }) => data);
  }

  #last(subject: string): Stored | undefined {
    return this.messages.findLast((message) => message.subject === subject);
  }
}

function silence(): CandorError {
  return new CandorError("server-unreachable", "Nobody answers.");
}
