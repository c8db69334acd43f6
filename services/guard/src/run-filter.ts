const bits = 1 << 19;
const probes = 4;

/** FNV-1a over a text of ASCII letters, with a start value of one's own. */
function hash(text: string, start: number): number {
  let value = start;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/**
 * Which runs a lane has ever opened, in 64 KiB whatever their number (a Bloom filter). It never forgets one; it may take
 * a new run for an old one, which costs a look into the log and nothing else.
 */
export class RunFilter {
  #bits: Uint8Array | undefined;

  add(run: string): void {
    const set = (this.#bits ??= new Uint8Array(bits / 8));
    for (const bit of bitsOf(run)) set[bit >>> 3] = (set[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  /** False means: certainly never opened. */
  mayHold(run: string): boolean {
    const set = this.#bits;
    return set !== undefined && bitsOf(run).every((bit) => ((set[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }
}

function bitsOf(run: string): number[] {
  const first = hash(run, 0x811c9dc5);
  const second = hash(run, 0x9e3779b9) | 1;
  return Array.from({ length: probes }, (_, i) => ((first + Math.imul(i, second)) >>> 0) % bits);
}
