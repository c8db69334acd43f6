import { decode, Encoder } from "@msgpack/msgpack";
import { CandorError } from "./errors.js";
import { decodeQuickly, notQuick } from "./quick-decoder.js";

// One encoder for all: it resets itself at every call, and making one costs more than most encodings.
const encoder = new Encoder({ sortKeys: true, ignoreUndefined: true });

/** The canonical msgpack bytes of a value: sorted keys, left-out `undefined`, shortest integers, doubles for fractions. */
export function encodeCanonical(value: unknown): Uint8Array {
  return encoder.encode(value);
}

/**
 * Decodes one msgpack value. Byte strings are views into `bytes`: copy what outlives the message.
 * @throws CandorError `malformed` if the bytes are no single msgpack value.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  const quick = decodeQuickly(bytes);
  if (quick !== notQuick) return quick;
  try {
    return decode(bytes);
  } catch (cause) {
    throw new CandorError("malformed", "These bytes are not one msgpack value; nothing was read from them.", { cause });
  }
}
