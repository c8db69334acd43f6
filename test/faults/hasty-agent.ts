import type { Publisher } from "@candor/bus";
import { intentSubject, storedSubject, taskKeyMessage } from "@candor/contract";
import { createSeed, createSigner, type Signer } from "@candor/ledger";
import type { Delegation } from "@candor/orchestrator";
import { fullScope } from "../kit/scenario.js";
import { Author } from "./author.js";

/** One dispatch that was tried. */
export interface Attempt {
  /** When it was handed to the publisher, on the clock that the server stamps messages by. */
  readonly atMs: number;
  readonly data: Uint8Array;
  /** What the publisher says came of it. */
  outcome: "stored" | "refused" | "unsure";
}

export interface HastyTask {
  readonly publisher: Publisher;
  readonly deployment: Signer;
  readonly actor: string;
  readonly run: string;
  readonly lane: number;
  readonly fleet: string;
  readonly delegation: Delegation;
}

/** Milliseconds since 1970, in fractions. */
export function wallClockMs(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * An agent that dispatches through the same publisher and behind the same fence as the SDK, but many at a time, and
 * without a look at what the orchestrator says meanwhile: only the server holds it back.
 */
export class HastyAgent {
  readonly attempts: Attempt[] = [];
  readonly #task: HastyTask;
  readonly #author: Author;
  readonly #taskKey = createSigner(createSeed());
  readonly #underWay: Promise<void>[] = [];

  constructor(task: HastyTask) {
    const { run, actor, delegation } = task;
    this.#task = task;
    this.#author = new Author({ run, task: delegation.task, actor }, this.#taskKey);
  }

  async accept(): Promise<void> {
    const { publisher, deployment, actor, run, delegation } = this.#task;
    const { publicKey: taskKey } = this.#taskKey;
    const { task, epoch, hash } = delegation;
    const certificate = deployment.sign(taskKeyMessage({ run, task, epoch, actor, taskKey }));
    const payload = { taskKey, certificate, delegation: hash, scope: fullScope, mode: "enforce" } as const;
    const { subject, data } = this.#author.next("accept", payload, epoch);
    await publisher.publish({ subject, bytes: data });
  }

  /** Tries to dispatch the next effect; what comes of it is noted. */
  attempt(): void {
    const { delegation } = this.#task;
    const names = Object.entries(delegation.intentKeys);
    const [intent = "", key = ""] = names[this.attempts.length % names.length] ?? [];
    const effect = { phase: "dispatched", intent, key, target: "payments" } as const;
    const { subject, data } = this.#author.next("effect", effect, delegation.epoch);
    const attempt: Attempt = { atMs: wallClockMs(), data, outcome: "unsure" };
    this.attempts.push(attempt);
    this.#underWay.push(this.#publish(subject, attempt));
  }

  /** Waits until it is known what came of every attempt. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.splice(0));
  }

  async #publish(subject: string, attempt: Attempt): Promise<void> {
    const { publisher, actor, run, lane, fleet, delegation } = this.#task;
    const { task, sequence } = delegation;
    try {
      const { type } = await publisher.publish({
        subject,
        bytes: attempt.data,
        expect: { sequence, subject: intentSubject({ lane, run, task, fleet }) },
        storedSubject: storedSubject({ lane, run, task, role: "agent", actor, kind: "effect" }),
      });
      attempt.outcome = type === "stored" ? "stored" : "refused";
    } catch {
      // Without an answer it stays unsure: the log says.
    }
  }
}
