import { hash } from "node:crypto";

/** SHA-256 of a text's UTF-8, as a text of one character a byte: a third of what a byte array of its own weighs. */
export function sha256Text(text: string): string {
  return hash("sha256", text, "binary");
}

/** SHA-256 (FIPS 180-4) by the platform's own implementation. */
export function sha256(bytes: Uint8Array): Uint8Array {
  // Asked for a Buffer, `hash` takes twice as long: 1.3 µs for 400 bytes against 0.6 this way.
  const text = hash("sha256", bytes, "binary");
  const digest = new Uint8Array(32);
  for (let i = 0; i < 32; i += 1) digest[i] = text.charCodeAt(i);
  return digest;
}
