const lineEnd = Buffer.from("\r\n");
/** Longer than any line that the client sends; what is longer is no line of this protocol. */
const longestLine = 1 << 20;

/** A publish that ends at `end` of the piece that was scanned. */
export interface SeenPublish {
  readonly subject: string;
  readonly end: number;
}

/**
 * Follows what a NATS client sends, piece by piece, and names every publish that a piece completes
 * (docs.nats.io, client protocol: `PUB subject [reply] size` and `HPUB subject [reply] headers size`).
 */
export class WireScan {
  /** Start of a line whose end has not come yet. */
  #line: Buffer = Buffer.alloc(0);
  /** Bytes of a payload, and the line end behind it, that are still to come. */
  #left = 0;
  #subject = "";

  /** @returns the publishes that end in this piece, in order */
  take(piece: Buffer): SeenPublish[] {
    const seen: SeenPublish[] = [];
    for (let at = 0; at < piece.length;) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, piece.length - at);
        this.#left -= step;
        at += step;
        if (this.#left === 0) seen.push({ subject: this.#subject, end: at });
        continue;
      }
      at = this.#takeLine(piece, at);
    }
    return seen;
  }

  /** Reads up to the end of a line, or keeps what there is of it. @returns where to go on in the piece */
  #takeLine(piece: Buffer, at: number): number {
    const kept = this.#line.length;
    const rest = piece.subarray(at);
    const text = kept === 0 ? rest : Buffer.concat([this.#line, rest]);
    const end = text.indexOf(lineEnd, Math.max(0, kept - 1));
    if (end < 0) {
      this.#line = text.length > longestLine ? Buffer.alloc(0) : Buffer.from(text);
      return piece.length;
    }
    this.#line = Buffer.alloc(0);
    const [verb = "", subject = "", ...sizes] = text.toString("latin1", 0, end).split(" ");
    if (/^H?PUB$/i.test(verb)) {
      this.#subject = subject;
      this.#left = Number(sizes.at(-1)) + lineEnd.length;
    }
    return at + end + lineEnd.length - kept;
  }
}
