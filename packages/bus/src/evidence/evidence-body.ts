import type { EvidenceAddress } from "@candor/contract";
import type { EvidencePort } from "./evidence-port.js";
import { readEvidence, readWholeEvidence } from "./read-evidence.js";

/**
 * A piece of evidence to be read: as a stream (`for await`), or whole. Each read asks the server and checks the hash anew.
 * Errors are those of `readEvidence`.
 */
export class EvidenceBody implements AsyncIterable<Uint8Array> {
  readonly #port: EvidencePort;
  readonly #at: EvidenceAddress & { readonly size: number };

  constructor(port: EvidencePort, at: EvidenceAddress & { readonly size: number }) {
    this.#port = port;
    this.#at = at;
  }

  /** Its chunks, in constant memory. Only whoever gets to the end has all of it, and knows that it is right. */
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return readEvidence(this.#port, this.#at, this.#at.size);
  }

  /** Reads all of it, keeps nothing, and checks its hash. */
  async verify(): Promise<void> {
    const chunks = this[Symbol.asyncIterator]();
    while ((await chunks.next()).done !== true);
  }

  /** All of it, up to 64 MiB. */
  bytes(): Promise<Uint8Array> {
    return readWholeEvidence(this.#port, this.#at, this.#at.size);
  }

  /** All of it as UTF-8. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }
}
