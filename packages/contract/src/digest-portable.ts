import { utf8 } from "./bytes.js";

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
const roundConstants = Uint32Array.from(firstPrimes(64), (prime) => fraction32(Math.cbrt(prime)));
const initialState = Uint32Array.from(firstPrimes(8), (prime) => fraction32(Math.sqrt(prime)));

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}

function fraction32(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** SHA-256 (FIPS 180-4) where there is no platform implementation that answers synchronously, as in a browser. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);

  const state = Uint32Array.from(initialState);
  const words = new Uint32Array(64);
  const at = (array: Uint32Array, index: number): number => array[index] as number;
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(block + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const before15 = at(words, i - 15);
      const before2 = at(words, i - 2);
      const s0 = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3);
      const s1 = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10);
      words[i] = at(words, i - 16) + s0 + at(words, i - 7) + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i += 1) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(roundConstants, i) + at(words, i)) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = at(state, i) + word;
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (const [i, word] of state.entries()) out.setUint32(i * 4, word);
  return digest;
}

/** SHA-256 of a text's UTF-8, as a text of one character a byte. */
export function sha256Text(text: string): string {
  return String.fromCharCode(...sha256(utf8(text)));
}
