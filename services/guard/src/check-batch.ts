/** What has become of a check: nobody works on it, somebody does, or its answer. */
export const checkState = { open: 0, taken: 1, right: 2, wrong: 3 } as const;

/** What a thread says: that it can begin, and that its oldest batch is answered. */
export const threadWords = { ready: "ready", answered: "answered" } as const;

const maxChecks = 32;
const signatureLength = 64;
/** A longer message is not worth copying. */
const maxMessage = 1_024;
const lengthBytes = 3;
const maxKey = 255;
const batchBytes = 16 * 1024;
/** One word for each check's state, and one for how many there are; the checks themselves follow. */
const wordBytes = 4;
const countAt = maxChecks;
const firstCheck = (maxChecks + 1) * wordBytes;

export type CheckSignature = (key: string, message: Uint8Array, signature: Uint8Array) => boolean;

/**
 * Signature checks in memory that threads share. Whoever turns a check from open to taken answers it, so that each is
 * made once and nobody waits for a check that nobody has begun.
 */
export class CheckBatch {
  readonly memory: SharedArrayBuffer;
  readonly states: Int32Array;
  readonly #bytes: Buffer;
  #end = firstCheck;
  #count = 0;

  constructor(memory = new SharedArrayBuffer(batchBytes)) {
    this.memory = memory;
    this.states = new Int32Array(memory, 0, maxChecks + 1).fill(checkState.open);
    this.#bytes = Buffer.from(memory);
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= maxChecks || this.#end + lengthBytes + maxKey + maxMessage + signatureLength > batchBytes;
  }

  /** Adds a check at the end; false for what a batch does not take. */
  add(key: string, message: Uint8Array, signature: Uint8Array): boolean {
    if (key.length > maxKey || message.length > maxMessage || signature.length !== signatureLength) return false;
    const bytes = this.#bytes;
    bytes[this.#end] = key.length;
    bytes.writeUInt16BE(message.length, this.#end + 1);
    this.#end += lengthBytes;
    this.#end += bytes.write(key, this.#end, "latin1");
    bytes.set(message, this.#end);
    this.#end += message.length;
    bytes.set(signature, this.#end);
    this.#end += signatureLength;
    this.#count += 1;
    this.states[countAt] = this.#count;
    return true;
  }
}

/** Takes and answers every check of a batch that is still open. */
export function answerBatch(memory: SharedArrayBuffer, check: CheckSignature): void {
  const states = new Int32Array(memory, 0, maxChecks + 1);
  const bytes = Buffer.from(memory);
  const count = states[countAt] ?? 0;
  let at = firstCheck;
  for (let index = 0; index < count; index += 1) {
    const keyAt = at + lengthBytes;
    const messageAt = keyAt + (bytes[at] ?? 0);
    const signatureAt = messageAt + bytes.readUInt16BE(at + 1);
    at = signatureAt + signatureLength;
    if (!takeCheck(states, index)) continue;
    const key = bytes.toString("latin1", keyAt, messageAt);
    const valid = check(key, bytes.subarray(messageAt, signatureAt), bytes.subarray(signatureAt, at));
    answerCheck(states, index, valid);
  }
}

/** True for the one that gets to answer this check. */
export function takeCheck(states: Int32Array, index: number): boolean {
  return Atomics.compareExchange(states, index, checkState.open, checkState.taken) === checkState.open;
}

export function answerCheck(states: Int32Array, index: number, valid: boolean): void {
  Atomics.store(states, index, valid ? checkState.right : checkState.wrong);
}

/** The answer to a check; undefined if there is none yet. */
export function readAnswer(states: Int32Array, index: number): boolean | undefined {
  const state = Atomics.load(states, index);
  return state === checkState.right ? true : state === checkState.wrong ? false : undefined;
}
