import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { sha256, utf8 } from "@candor/contract";
import { createSeed, createSigner, verifySignature } from "@candor/ledger";
import type { SignatureCheck } from "./signature-check.js";
import { SignatureThreads } from "./signature-threads.js";

/** A thread runs built output. */
const workerFile = fileURLToPath(new URL("../dist/verify-worker.js", import.meta.url));
/** Without this process's conditions, by which packages resolve to their sources. */
const startWorker = (): Worker => new Worker(workerFile, { execArgv: [] });
const whyNot = existsSync(workerFile) ? undefined : "the guard is not built, so there is no thread to run";
const signers = Array.from({ length: 3 }, () => createSigner(createSeed()));

interface Case {
  readonly key: string;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

type Fault = "none" | "signature" | "message" | "key" | "length" | "long";
const faults: readonly Fault[] = ["none", "signature", "message", "key", "length", "long"];

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ 1;
  return copy;
}

/** A signature check of its own, right or wrong in one way. `long` is a right one that is not worth copying. */
function caseOf(index: number, fault: Fault): Case {
  const signer = signers[index % signers.length] as (typeof signers)[number];
  const message = fault === "long" ? new Uint8Array(2_000).fill(index) : sha256(utf8(`message ${index}`));
  const signature = signer.sign(message);
  const other = signers[(index + 1) % signers.length] as typeof signer;
  return {
    key: fault === "key" ? other.publicKey : signer.publicKey,
    message: fault === "message" ? flipped(message, index) : message,
    signature: fault === "signature" ? flipped(signature, index) : fault === "length" ? signature.slice(1) : signature,
  };
}

const isRight = (fault: Fault): boolean => fault === "none" || fault === "long";

let threads: SignatureThreads | undefined;
afterEach(() => {
  threads?.close();
  threads = undefined;
});

function start(workers: readonly Worker[]): SignatureThreads {
  threads = new SignatureThreads(workers);
  return threads;
}

const answered = (by: SignatureThreads): Promise<void> =>
  new Promise((resolve) => {
    by.onAnswers(resolve);
  });

/** Waits for the threads alone. */
async function untilMade(by: SignatureThreads, checks: readonly SignatureCheck[]): Promise<void> {
  while (checks.some(({ valid }) => valid === undefined)) await answered(by);
}

function ask(by: SignatureThreads, list: readonly Fault[]): SignatureCheck[] {
  const checks = list.map((fault, index) => {
    const { key, message, signature } = caseOf(index, fault);
    return by.verify(key, message, signature);
  });
  by.flush();
  return checks;
}

/** A thread that begins the first check of a batch and dies. */
const dying = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (memory) => {
    Atomics.store(new Int32Array(memory, 0, 33), 0, 1);
    process.exit(1);
  });
  parentPort.postMessage("ready");`;

describe.skipIf(whyNot !== undefined)(
  `signature checks on other threads${whyNot === undefined ? "" : `: ${whyNot}`}`,
  () => {
    const mixed = Array.from({ length: 400 }, (_, i) => (i % 3 === 0 ? (faults[(i / 3) % 4] ?? "none") : "none"));

    it("are answered there, and a wrong signature stays wrong", async () => {
      const by = start([startWorker(), startWorker()]);
      const checks = ask(by, mixed);
      await untilMade(by, checks);
      expect(checks.map(({ valid }) => valid)).toEqual(mixed.map(isRight));
      expect(by.helpOne()).toBe(false);
    });

    it("give the same answers when whoever waits helps, batch after batch in the same memory", async () => {
      const by = start([startWorker()]);
      for (let round = 0; round < 5; round += 1) {
        const checks = ask(by, mixed);
        while (checks.some(({ valid }) => valid === undefined)) {
          if (!by.helpOne()) await answered(by);
        }
        expect(checks.map(({ valid }) => valid)).toEqual(mixed.map(isRight));
      }
    });

    it("that a thread leaves behind when it dies in mid-batch are made by whoever needs them", async () => {
      const by = start([new Worker(dying, { eval: true, execArgv: [] })]);
      const checks = ask(by, mixed);
      await answered(by);
      while (by.helpOne()) expect(checks.length).toBeGreaterThan(0);
      while (checks.some(({ valid }) => valid === undefined)) {
        await answered(by);
        while (by.helpOne()) expect(checks.length).toBeGreaterThan(0);
      }
      expect(checks.map(({ valid }) => valid)).toEqual(mixed.map(isRight));
      const later = ask(by, ["none", "signature"]);
      while (by.helpOne()) expect(later).toHaveLength(2);
      expect(later.map(({ valid }) => valid)).toEqual([true, false]);
    });

    it("go on with the other threads when one dies", async () => {
      const victim = new Worker(dying, { eval: true, execArgv: [] });
      const gone = once(victim, "exit");
      const by = start([victim, startWorker()]);
      const checks = ask(by, mixed);
      while (checks.some(({ valid }) => valid === undefined)) {
        if (!by.helpOne()) await answered(by);
      }
      expect(checks.map(({ valid }) => valid)).toEqual(mixed.map(isRight));
      await gone;
      const later = ask(by, mixed);
      await untilMade(by, later);
      expect(later.map(({ valid }) => valid)).toEqual(mixed.map(isRight));
    });
  },
);

describe("signature checks without other threads", () => {
  it("are all made by whoever needs them, in the order of asking", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...faults), { maxLength: 40 }), (list) => {
        const by = new SignatureThreads([]);
        const checks = ask(by, list);
        for (const [index, check] of checks.entries()) {
          expect(check.valid).toBeUndefined();
          expect(by.helpOne()).toBe(true);
          expect(check.valid).toBe(isRight(list[index] ?? "none"));
        }
        expect(by.helpOne()).toBe(false);
      }),
      { numRuns: 20 },
    );
  });

  it("answer as the verifier does", () => {
    for (const [index, fault] of faults.entries()) {
      const { key, message, signature } = caseOf(index, fault);
      expect(verifySignature(key, message, signature)).toBe(isRight(fault));
    }
  });
});
