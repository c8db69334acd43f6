import { describe, expect, it } from "vitest";
import {
  CandorError,
  decodeBody,
  decodeFrame,
  decodePayload,
  eventHash,
  hex,
  zeroHash,
  type EventBody,
} from "@candor/contract";
import { createSeed, createSigner, verifySignature } from "@candor/ledger";
import { Prober, type ProbeClient } from "./prober.js";

const signer = createSigner(createSeed());

/** The exact subject of one prober on one task. */
class TestSubject implements ProbeClient {
  readonly lanes = 16;
  readonly frames: Uint8Array[] = [];
  failure: CandorError | undefined;

  lastProbe(): ReturnType<ProbeClient["lastProbe"]> {
    const frame = this.frames.at(-1);
    if (frame === undefined) return Promise.resolve(undefined);
    const { body } = decodeFrame(frame);
    const { epoch, seq } = decodeBody(body);
    return Promise.resolve({ sequence: this.frames.length, epoch, seq, hash: eventHash(body) });
  }

  async storeProbe(_at: unknown, frame: Uint8Array, expected: number): Promise<number | undefined> {
    await Promise.resolve();
    if (this.frames.length !== expected) return undefined;
    this.frames.push(frame);
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    return this.frames.length;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  events(): EventBody[] {
    return this.frames.map((frame) => decodeBody(decodeFrame(frame).body));
  }
}

const probe = {
  run: "r1",
  task: "t1",
  epoch: 1,
  target: { of: "task" as const },
  method: "read it back",
  outcome: "confirmed" as const,
};

function expectOneChain(subject: TestSubject, count: number): void {
  let prev = hex(zeroHash);
  for (const [index, frame] of subject.frames.entries()) {
    const { body, signature } = decodeFrame(frame);
    const event = decodeBody(body);
    expect(event.seq).toBe(index + 1);
    expect(hex(event.prev)).toBe(prev);
    expect(verifySignature(signer.publicKey, eventHash(body), signature ?? zeroHash)).toBe(true);
    prev = hex(eventHash(body));
  }
  expect(subject.frames).toHaveLength(count);
}

describe("D4 a prober's receipts", () => {
  it("say what was looked at, how, and what was seen", async () => {
    const subject = new TestSubject();
    const stored = await new Prober(subject, signer, "p1").publishProbe(probe);
    const [event] = subject.events();
    expect(event).toMatchObject({ kind: "probe", role: "probe", actor: "p1", epoch: 1, seq: 1 });
    expect(decodePayload("probe", event?.payload ?? zeroHash)).toEqual({
      target: { of: "task" },
      method: "read it back",
      outcome: "confirmed",
    });
    expect(stored).toMatchObject({ sequence: 1, seq: 1 });
  });

  it("make one chain, however many are published at once", async () => {
    const subject = new TestSubject();
    const prober = new Prober(subject, signer, "p1");
    await Promise.all(Array.from({ length: 50 }, () => prober.publishProbe(probe)));
    expectOneChain(subject, 50);
  });

  it("make one chain, though two processes write it", async () => {
    const subject = new TestSubject();
    const processes = [new Prober(subject, signer, "p1"), new Prober(subject, signer, "p1")];
    for (let i = 0; i < 10; i += 1) await Promise.all(processes.map((prober) => prober.publishProbe(probe)));
    expectOneChain(subject, 20);
  });

  it("go on after a publish without an answer from what the log has", async () => {
    const subject = new TestSubject();
    const prober = new Prober(subject, signer, "p1");
    subject.failure = new CandorError("publish-unconfirmed", "No answer came.");
    await expect(prober.publishProbe(probe)).rejects.toMatchObject({ code: "publish-unconfirmed" });
    await prober.publishProbe(probe);
    expectOneChain(subject, 2);
  });

  it("have a chain of their own in each epoch", async () => {
    const subject = new TestSubject();
    const prober = new Prober(subject, signer, "p1");
    for (const epoch of [1, 2, 1]) await prober.publishProbe({ ...probe, epoch });
    expect(subject.events().map(({ epoch, seq }) => [epoch, seq])).toEqual([
      [1, 1],
      [2, 1],
      [1, 2],
    ]);
    const stranger = new Prober(subject, signer, "p1");
    await stranger.publishProbe({ ...probe, epoch: 1 });
    await expect(stranger.publishProbe({ ...probe, epoch: 2 })).resolves.toMatchObject({ seq: 1 });
  });

  it("on an epoch that another process left behind are refused, never forked", async () => {
    const subject = new TestSubject();
    const prober = new Prober(subject, signer, "p1");
    for (const epoch of [1, 2]) await prober.publishProbe({ ...probe, epoch });
    await expect(new Prober(subject, signer, "p1").publishProbe(probe)).rejects.toMatchObject({ code: "task-over" });
  });

  it("that do not fit are refused before they are sent", async () => {
    const subject = new TestSubject();
    const prober = new Prober(subject, signer, "p1");
    await expect(prober.publishProbe({ ...probe, method: "" })).rejects.toMatchObject({ code: "malformed" });
    expect(subject.frames).toEqual([]);
  });
});
