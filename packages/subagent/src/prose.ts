import { seal, unseal } from "@candor/ledger";

/** Seals and opens prose under the run's data key (Q5). What looks like a secret is redacted before it is sealed. */
export class Prose {
  readonly #dataKey: Uint8Array;

  constructor(dataKey: Uint8Array) {
    this.#dataKey = dataKey;
  }

  seal(text: string): Uint8Array {
    return seal(text, this.#dataKey);
  }

  open(sealed: Uint8Array): string {
    return unseal(sealed, this.#dataKey);
  }
}
