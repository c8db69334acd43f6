import { equalBytes } from "@candor/contract";
import { answerCheck, readAnswer, takeCheck, type CheckSignature } from "./check-batch.js";

/** A signature check that other threads may make. */
export class SignatureCheck {
  readonly key: string;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  #states: Int32Array | undefined;
  readonly #index: number;
  #valid: boolean | undefined;

  /**
   * @param states those of the batch that it is in; undefined if no thread has it
   * @param index its place in the batch
   */
  constructor(key: string, message: Uint8Array, signature: Uint8Array, states: Int32Array | undefined, index: number) {
    this.key = key;
    this.message = message;
    this.signature = signature;
    this.#states = states;
    this.#index = index;
  }

  /** The answer, if there is one. */
  get valid(): boolean | undefined {
    if (this.#valid === undefined && this.#states !== undefined) {
      this.#valid = readAnswer(this.#states, this.#index);
      if (this.#valid !== undefined) this.#states = undefined;
    }
    return this.#valid;
  }

  isOf(key: string, message: Uint8Array, signature: Uint8Array): boolean {
    return this.key === key && equalBytes(this.signature, signature) && equalBytes(this.message, message);
  }

  /** Makes the check here and now; false if it is made already or another thread is at it. */
  make(check: CheckSignature): boolean {
    if (this.#valid !== undefined) return false;
    if (this.#states !== undefined && !takeCheck(this.#states, this.#index)) return false;
    this.#valid = check(this.key, this.message, this.signature);
    if (this.#states !== undefined) answerCheck(this.#states, this.#index, this.#valid);
    this.#states = undefined;
    return true;
  }

  /** Takes the check back from a batch: with its answer if that is there, else to be made here. */
  detach(): void {
    if (this.valid === undefined) this.#states = undefined;
  }
}
