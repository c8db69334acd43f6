import { hash } from "node:crypto";

/** SHA-256 (FIPS 180-4) by the platform's own implementation. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}
