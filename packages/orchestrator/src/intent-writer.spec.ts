import { describe, expect, it } from "vitest";
import {
  CandorError,
  decodeBody,
  decodeFrame,
  equalBytes,
  eventHash,
  runTask,
  silentLogger,
  zeroHash,
  type EventBody,
  type VerdictBody,
} from "@candor/contract";
import { createSeed, createSigner, verifySignature } from "@candor/ledger";
import { IntentWriter, type Draft } from "./intent-writer.js";
import type { LogClient } from "./log-client.js";
import { Memory } from "./memory.js";
import { RunView } from "./run-view.js";
import { storedIntentOf, type Standing } from "./task-line.js";

interface Stored {
  readonly sequence: number;
  readonly frame: Uint8Array;
}

/** The log's side of the bargain: one sequence for all, and compare-and-set per subject. */
class TestLog {
  readonly subjects = new Map<string, Stored[]>();
  #sequence = 0;
  /** What the next publish meets instead of an answer. */
  failure: CandorError | undefined;

  store(task: string, frame: Uint8Array, expected: number): number | undefined {
    const stored = this.subjects.get(task) ?? [];
    if ((stored.at(-1)?.sequence ?? 0) !== expected) return undefined;
    this.#sequence += 1;
    this.subjects.set(task, [...stored, { sequence: this.#sequence, frame }]);
    return this.#sequence;
  }

  client(): LogClient {
    const never = (): never => {
      throw new CandorError("defect", "A writer does not ask for this.");
    };
    return {
      lanes: 16,
      isConnected: () => true,
      storeIntent: ({ task }, frame, expected) => {
        const sequence = this.store(task, frame, expected);
        const last = this.subjects.get(task)?.at(-1);
        const { failure } = this;
        this.failure = undefined;
        if (failure !== undefined) return Promise.reject(failure);
        return Promise.resolve(
          sequence === undefined ? { type: "lost", winner: last && intentOf(last) } : { type: "stored", sequence },
        );
      },
      lastIntent: ({ task }) => {
        const last = this.subjects.get(task)?.at(-1);
        return Promise.resolve(last && { intent: intentOf(last), payload: eventOf(last).payload });
      },
      records: never,
      lastRecord: never,
      recordAt: never,
      lastCheckpoint: never,
      keepDataKey: never,
      dataKey: never,
      lastOfAgent: never,
      evidence: { store: never, read: never },
      guardState: never,
      close: () => Promise.resolve(),
    };
  }

  events(task: string): EventBody[] {
    return (this.subjects.get(task) ?? []).map(eventOf);
  }
}

function eventOf({ frame }: Stored): EventBody {
  return decodeBody(decodeFrame(frame).body);
}

function intentOf(stored: Stored): ReturnType<typeof storedIntentOf> {
  return storedIntentOf(eventOf(stored), eventHash(decodeFrame(stored.frame).body), stored.sequence);
}

const signer = createSigner(createSeed());

async function replica(log: TestLog, patienceMs = 5): Promise<{ writer: IntentWriter; view: RunView }> {
  const view = new RunView();
  const memory = await Memory.open(undefined, signer.publicKey, "f1", silentLogger);
  const client = log.client();
  return {
    writer: new IntentWriter({ client, memory, view, signer, fleet: "f1", run: "r1", lane: 3, patienceMs }),
    view,
  };
}

/** The guard's word on the last intent of a task. */
function speak(log: TestLog, view: RunView, task: string, accepted: boolean): void {
  const last = log.subjects.get(task)?.at(-1);
  if (last === undefined) throw new CandorError("defect", "Nothing is stored.");
  const { control, kind, hash, epoch } = intentOf(last);
  const body: Partial<VerdictBody> = {
    task,
    epoch,
    judge: "intent",
    verdict: accepted ? "INTENT_ACCEPTED" : "INTENT_REJECTED",
    policy: zeroHash,
    intent: { control, kind, hash },
    cause: { first: last.sequence, last: last.sequence },
  };
  view.verdict(body as VerdictBody);
}

const close = (): Draft<"run-close"> => ({ epoch: 1, payload: { state: "completed" } });
const recall = (standing: Standing | undefined): Draft<"recall"> => ({
  epoch: standing?.epoch ?? 1,
  payload: { standing: { epoch: 1, state: "recalled" }, graceMs: 10, reason: "enough" },
});

describe("R2 intents", () => {
  it("are signed, numbered and chained", async () => {
    const log = new TestLog();
    const { writer, view } = await replica(log);
    for (const state of ["completed", "failed", "cancelled"] as const) {
      await writer.issue(runTask, "run-close", () => ({ epoch: 1, payload: { state } }));
      speak(log, view, runTask, true);
    }
    const events = log.events(runTask);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    let prev = zeroHash;
    for (const { frame } of log.subjects.get(runTask) ?? []) {
      const { body, signature } = decodeFrame(frame);
      expect(equalBytes(decodeBody(body).prev, prev)).toBe(true);
      prev = eventHash(body);
      expect(verifySignature(signer.publicKey, prev, signature ?? zeroHash)).toBe(true);
    }
  });

  it("re-use the number of one that the guard rejected, so that it blocks nothing", async () => {
    const log = new TestLog();
    const { writer, view } = await replica(log);
    await writer.issue("t1", "recall", recall);
    speak(log, view, "t1", true);
    await writer.issue("t1", "recall", recall);
    speak(log, view, "t1", false);
    await writer.issue("t1", "recall", recall);
    expect(log.events("t1").map(({ seq }) => seq)).toEqual([1, 2, 2]);
    const [first, , third] = log.subjects.get("t1") ?? [];
    if (first === undefined || third === undefined) throw new CandorError("defect", "Three intents were stored.");
    expect(equalBytes(eventOf(third).prev, intentOf(first).hash)).toBe(true);
  });

  it("wait for the guard's word on the one before, but not for ever", async () => {
    const log = new TestLog();
    const { writer, view } = await replica(log, 10_000);
    await writer.issue("t1", "recall", recall);
    const second = writer.issue("t1", "recall", recall);
    speak(log, view, "t1", false);
    expect((await second).event.seq).toBe(1);

    const impatient = await replica(log, 20);
    await impatient.writer.issue("t1", "recall", recall);
    const started = performance.now();
    expect((await impatient.writer.issue("t1", "recall", recall)).event.seq).toBe(3);
    expect(performance.now() - started).toBeGreaterThanOrEqual(15);
  });

  it("of two replicas: one wins, the other is told which intent won", async () => {
    const log = new TestLog();
    const [one, other] = [await replica(log), await replica(log)];
    await one.writer.issue("t1", "recall", recall);
    await other.writer.refresh("t1");
    const results = await Promise.allSettled([
      one.writer.issue("t1", "recall", recall),
      other.writer.issue("t1", "close", (standing) => ({
        epoch: standing?.epoch ?? 1,
        payload: { standing: { epoch: 1, state: "closed" }, state: "rejected" },
      })),
    ]);
    const [won] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const lost = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatchObject({
      code: "intent-lost",
      details: { winner: { kind: won?.event.kind, control: 2, actor: "f1", sequence: won?.sequence } },
    });
    expect(log.events("t1").map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it("of two calls in one process: what was decided on an older state loses too", async () => {
    const log = new TestLog();
    const { writer } = await replica(log);
    await writer.issue("t1", "recall", recall);
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => writer.issue("t1", "recall", recall)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "intent-lost" });
    }
  });

  it("look up what is there after a publish without an answer", async () => {
    const log = new TestLog();
    const { writer } = await replica(log);
    log.failure = new CandorError("publish-unconfirmed", "No answer came.");
    await expect(writer.issue(runTask, "run-close", close)).rejects.toMatchObject({ code: "publish-unconfirmed" });
    const next = await writer.issue(runTask, "run-close", close);
    expect(next.event.seq).toBe(2);
  });

  it("refused by whoever composes them are not sent", async () => {
    const log = new TestLog();
    const { writer } = await replica(log);
    const refusal = new CandorError("task-over", "It is over.");
    await expect(
      writer.issue("t1", "recall", () => {
        throw refusal;
      }),
    ).rejects.toBe(refusal);
    expect(log.subjects.size).toBe(0);
  });
});
