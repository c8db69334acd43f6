import { proseDigest, seal, unseal } from "@candor/ledger";

/** Seals and opens prose under the run's data key (Q5). What looks like a secret is redacted before it is sealed. */
export class Prose {
  readonly #dataKey: Uint8Array;

  constructor(dataKey: Uint8Array) {
    this.#dataKey = dataKey;
  }

  seal(text: string): Uint8Array {
    return seal(text, this.#dataKey);
  }

  /** A sealed text, and the digest by which others name it without opening it. */
  named(text: string): { readonly text: Uint8Array; readonly digest: Uint8Array } {
    const sealed = this.seal(text);
    // Of what stands there: secrets are taken out when it is sealed.
    return { text: sealed, digest: proseDigest(this.open(sealed), this.#dataKey) };
  }

  open(sealed: Uint8Array): string {
    return unseal(sealed, this.#dataKey);
  }
}
