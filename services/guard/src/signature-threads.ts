import { once } from "node:events";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { verifySignature } from "@candor/ledger";
import { CheckBatch, threadWords } from "./check-batch.js";
import { SignatureCheck } from "./signature-check.js";

/** Only where this runs built; from its sources there are no other threads. */
const workerFile = fileURLToPath(new URL("./verify-worker.js", import.meta.url));
const mostThreads = 4;
const memoriesKept = 64;

interface SentBatch {
  readonly memory: SharedArrayBuffer;
  readonly checks: readonly SignatureCheck[];
}

/**
 * Verifies signatures ahead of the fold on threads of our own, one fewer than the machine has, since the fold has one to
 * itself. Checks go in batches, because waking a thread costs as much as asking thirty. Whoever has to wait for a check
 * helps instead: `helpOne` makes the oldest that nobody has begun. Without other threads that is how all are made.
 */
export class SignatureThreads {
  readonly #sent = new Map<Worker, SentBatch[]>();
  readonly #memories: SharedArrayBuffer[] = [];
  /** In the order of asking; those before the head are made or under way. */
  #asked: SignatureCheck[] = [];
  #head = 0;
  #batch = new CheckBatch();
  #checks: SignatureCheck[] = [];
  #turn = 0;
  #waiters: (() => void)[] = [];

  /** @param workers threads that run `verify-worker.js`; none is fine */
  constructor(workers: readonly Worker[]) {
    for (const worker of workers) this.#employ(worker);
  }

  /** Asks for a check; the question may wait for `flush`. */
  verify(key: string, message: Uint8Array, signature: Uint8Array): SignatureCheck {
    const place = this.#batch.count;
    const isBatched = this.#sent.size > 0 && this.#batch.add(key, message, signature);
    const states = isBatched ? this.#batch.states : undefined;
    const check = new SignatureCheck(key, message, signature, states, place);
    this.#asked.push(check);
    if (isBatched) this.#checks.push(check);
    if (this.#batch.isFull) this.flush();
    return check;
  }

  /** Sends on what waits. */
  flush(): void {
    if (this.#checks.length === 0) return;
    const [{ memory }, checks] = [this.#batch, this.#checks];
    this.#batch = new CheckBatch(this.#memories.pop());
    this.#checks = [];
    const workers = [...this.#sent.keys()];
    const worker = workers[this.#turn % Math.max(1, workers.length)];
    this.#turn += 1;
    if (worker === undefined) {
      for (const check of checks) check.detach();
      return;
    }
    this.#sent.get(worker)?.push({ memory, checks });
    worker.postMessage(memory);
  }

  /** Makes the oldest check that nobody has begun; false if there is none. */
  helpOne(): boolean {
    while (this.#head < this.#asked.length) {
      const check = this.#asked[this.#head];
      this.#head += 1;
      if (check?.make(verifySignature) === true) return true;
    }
    this.#asked = [];
    this.#head = 0;
    return false;
  }

  /** Calls back once, when a thread has come further. */
  onAnswers(call: () => void): void {
    this.#waiters.push(call);
  }

  close(): void {
    for (const worker of this.#sent.keys()) void worker.terminate();
  }

  #employ(worker: Worker): void {
    this.#sent.set(worker, []);
    worker.on("message", (word: unknown) => {
      // What it says first is that it is ready, and a batch may be under way to it already.
      if (word !== threadWords.answered) return;
      const batch = this.#sent.get(worker)?.shift();
      if (batch !== undefined) this.#takeBack(batch);
      if (batch !== undefined && this.#memories.length < memoriesKept) this.#memories.push(batch.memory);
      this.#wake();
    });
    // A thread that ends leaves its checks to whoever needs them; the others go on.
    worker.on("error", () => undefined);
    worker.on("exit", () => {
      const batches = this.#sent.get(worker) ?? [];
      this.#sent.delete(worker);
      for (const batch of batches) this.#takeBack(batch);
      this.#wake();
    });
    worker.unref();
  }

  #takeBack({ checks }: SentBatch): void {
    for (const check of checks) {
      check.detach();
      if (check.valid === undefined) this.#asked.push(check);
    }
    this.#forgetMade();
  }

  /** Checks that nobody had to help with are let go of. */
  #forgetMade(): void {
    while (this.#asked[this.#head]?.valid !== undefined) this.#head += 1;
    if (this.#head < 1_024 && this.#head < this.#asked.length) return;
    this.#asked = this.#asked.slice(this.#head);
    this.#head = 0;
  }

  #wake(): void {
    for (const call of this.#waiters.splice(0)) call();
  }
}

/** One that could not start is left out: there are others, and the fold itself. */
function isRunning({ threadId }: Worker): boolean {
  return threadId > 0;
}

/** Starts the threads and waits until they are ready, so that the first checks do not wait for them. */
export async function startSignatureThreads(): Promise<SignatureThreads> {
  const count = existsSync(workerFile) ? Math.min(mostThreads, availableParallelism() - 1) : 0;
  const workers = Array.from({ length: count }, () => new Worker(workerFile));
  await Promise.allSettled(workers.map((worker) => Promise.race([once(worker, "message"), once(worker, "exit")])));
  return new SignatureThreads(workers.filter(isRunning));
}
