import {
  evidencePort,
  readLast,
  readLive,
  surfacing,
  watchConnection,
  type Bus,
  type EvidencePort,
  type Publisher,
} from "@candor/bus";
import { CandorError, isCandorError, liveSubject, streams } from "@candor/contract";
import type { Expectation, LiveMessage, LookUpStream, PublishOutcome, Stored, TaskBus } from "./ports.js";

/** The bus as a task sees it. */
export class BusPort implements TaskBus {
  readonly #bus: Bus;
  readonly #publisher: Publisher;
  readonly #ends = new Set<() => void>();
  readonly evidence: EvidencePort;

  constructor(bus: Bus, publisher: Publisher) {
    this.#bus = bus;
    this.evidence = evidencePort(bus, publisher);
    this.#publisher = publisher;
  }

  async publish(subject: string, data: Uint8Array, expect?: Expectation): Promise<PublishOutcome> {
    const stored = expect === undefined ? undefined : storedFor(subject, expect.subject);
    const request = {
      subject,
      bytes: data,
      ...(expect === undefined ? {} : { expect }),
      ...(stored === undefined ? {} : { storedSubject: stored }),
    };
    try {
      const outcome = await this.#publisher.publish(request);
      switch (outcome.type) {
        case "stored":
          return { outcome: "stored", sequence: outcome.seq };
        case "lost":
          return { outcome: "lost", certain: outcome.certain };
        case "taken":
          return { outcome: "lost", certain: true, existing: outcome.existing.data };
      }
    } catch (error) {
      return failedOutcome(error);
    }
  }

  async last(stream: LookUpStream, subject: string): Promise<Stored | undefined> {
    const found = await readLast(this.#bus, streams[stream], subject);
    return found && { sequence: found.seq, data: found.data };
  }

  subscribe(subject: string, listener: (message: LiveMessage) => void): () => void {
    const { nc } = this.#bus;
    const take = surfacing(listener);
    const subscription = nc.subscribe(liveSubject(subject), {
      callback: (error, message) => {
        const live = error === null ? readLive(message) : undefined;
        if (live !== undefined) take(live);
      },
    });
    return this.#ending(() => {
      if (!nc.isClosed()) subscription.unsubscribe();
    });
  }

  onReconnect(listener: () => void): () => void {
    return this.#ending(watchConnection(this.#bus.nc, { reconnected: surfacing(listener) }));
  }

  /** Ends all that still listens. */
  close(): void {
    for (const end of [...this.#ends]) end();
  }

  #ending(stop: () => void): () => void {
    const end = (): void => {
      if (this.#ends.delete(end)) stop();
    };
    this.#ends.add(end);
    return end;
  }
}

/** Where a published event of this agent is stored; its lane is that of the expectation, which is of the same run. */
function storedFor(published: string, expected: string): string | undefined {
  // Both were put together of checked parts.
  const [, log, lane] = expected.split(".");
  const [, word, role, actor, run, task, kind] = published.split(".");
  if (log !== "log" || word !== "in") return undefined;
  return ["candor.log", lane, run, task, role, actor, kind].join(".");
}

function failedOutcome(error: unknown): PublishOutcome {
  if (isCandorError(error, "publish-unconfirmed")) return { outcome: "unknown", error };
  if (isCandorError(error, "server-unreachable", "store-full", "connection-closed")) return { outcome: "later", error };
  if (isCandorError(error)) return { outcome: "refused", error };
  const unforeseen = new CandorError("defect", "Publishing failed in a way that the bus does not know.", {
    cause: error,
  });
  return { outcome: "unknown", error: unforeseen };
}
