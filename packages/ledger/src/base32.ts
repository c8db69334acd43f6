const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const values = new Map(Array.from(alphabet, (letter, value) => [letter, value]));

/**
 * Base32 of RFC 4648 in capital letters, without padding.
 *
 * @param bytes any bytes
 */
export function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((pending >>> bits) & 31);
    }
    pending &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet.charAt((pending << (5 - bits)) & 31);
}

/**
 * The bytes behind a base32 text, or undefined where the text is not the one canonical encoding of any bytes:
 * other letters, an impossible length, or left-over bits that are not zero.
 *
 * @param text capital letters, without padding
 */
export function decodeBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array((text.length * 5) >> 3);
  let pending = 0;
  let bits = 0;
  let at = 0;
  for (const letter of text) {
    const value = values.get(letter);
    if (value === undefined) return undefined;
    pending = (pending << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = pending >>> bits;
      pending &= (1 << bits) - 1;
    }
  }
  return bits < 5 && pending === 0 ? bytes : undefined;
}
