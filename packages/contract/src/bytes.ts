const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. A lone surrogate becomes U+FFFD, as everywhere on the web platform. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

const hexOf: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower-case hexadecimal. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += hexOf[byte] as string;
  return text;
}

/** True if both hold the same bytes. Not constant-time: nothing secret is compared with it. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** One array out of several, in order. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** SHA-256 over `domain ‖ 0x00 ‖ bytes`: the domain keeps hashes of different things apart. */
export function domainPrefix(domain: string): Uint8Array {
  return concatBytes(utf8(domain), Uint8Array.of(0));
}
