import { Publisher, type Bus } from "@candor/bus";
import {
  completionConfidence,
  decodeBody,
  decodeDelegationToken,
  decodeFrame,
  decodePayload,
  errorLogReceiptOf,
  eventHash,
  Tally,
  type EventKind,
  type Payload,
} from "@candor/contract";
import { certifyTaskKey, createSeed, createSigner } from "@candor/ledger";
import type { Credentials } from "@candor/ledger/files";
import { Author } from "../faults/author.js";
import { fullScope } from "./scenario.js";

/** An agent without the SDK, for what an honest runtime would not do: it accepts, and publishes whatever a test says. */
export class HandAgent {
  readonly #publisher: Publisher;
  readonly #author: Author;
  readonly #epoch: number;
  readonly #brief: Payload<"delegate">["brief"];
  readonly #tally = new Tally();
  readonly #retries: NonNullable<Payload<"report">["receipts"]>["retries"]["entries"] = [];

  private constructor(parts: {
    publisher: Publisher;
    author: Author;
    epoch: number;
    brief: Payload<"delegate">["brief"];
  }) {
    this.#publisher = parts.publisher;
    this.#author = parts.author;
    this.#epoch = parts.epoch;
    this.#brief = parts.brief;
  }

  static async accept(bus: Bus, { name, signer }: Credentials, token: string): Promise<HandAgent> {
    const { intent } = decodeDelegationToken(token);
    const { body } = decodeFrame(intent);
    const { run, task, epoch, payload } = decodeBody(body);
    const { brief } = decodePayload("delegate", payload);
    const taskSigner = createSigner(createSeed());
    const author = new Author({ run, task, actor: name }, taskSigner);
    const agent = new HandAgent({ publisher: new Publisher(bus), author, epoch, brief });
    const taskKey = taskSigner.publicKey;
    const certificate = certifyTaskKey(signer, { run, task, epoch, actor: name, taskKey });
    await agent.write("accept", {
      taskKey,
      certificate,
      delegation: eventHash(body),
      scope: fullScope,
      mode: "enforce",
    });
    return agent;
  }

  /** Publishes the next event of the chain. Returns its number. */
  async write<K extends EventKind>(kind: K, payload: Payload<K>): Promise<number> {
    const { subject, data } = this.#author.next(kind, payload, this.#epoch);
    const { seq } = this.#author;
    if (kind !== "report") this.#tally.add(seq, kind, payload);
    if (kind === "retry") this.#retries.push({ seq, ...(payload as Payload<"retry">) });
    await this.#publisher.publish({ subject, bytes: data });
    return seq;
  }

  /** An honest report of what it wrote, with any part bent, and claiming success unless told otherwise. */
  report(bend: Partial<Payload<"report">> = {}): Promise<number> {
    const coverage = this.#brief.keyTasks.map((task) => ({ task, state: "done" as const }));
    const score = completionConfidence({
      errors: this.#tally.errors(),
      retries: this.#tally.retryCount,
      coverage,
      keyTasks: this.#brief.keyTasks,
      caveats: 0,
    });
    return this.write("report", {
      claim: "pass",
      finishReason: "completed",
      coverage,
      effects: [],
      receipts: {
        errorLog: errorLogReceiptOf(this.#tally, this.#author.head),
        retries: { entries: [...this.#retries], unseen: [] },
      },
      receiptParts: 0,
      confidence: { formula: 1, score, caveats: 0 },
      work: { calls: 1, succeeded: 1 },
      caveats: [],
      ...bend,
    });
  }
}
