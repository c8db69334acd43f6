import { z } from "zod";
import { CandorError } from "./errors.js";
import { limits, runTask } from "./vocabulary.js";

/** Ids of runs, tasks and actors: they are subject tokens, so no dots, blanks or wildcards. */
const idPattern = /^[A-Za-z0-9-][A-Za-z0-9_-]{0,63}$/;

export function isId(text: string): boolean {
  return idPattern.test(text);
}

export function isTaskId(text: string): boolean {
  return text === runTask || idPattern.test(text);
}

/**
 * Returns the id unchanged.
 * @throws CandorError `bad-argument` with `what` as path if it can't be a subject token.
 */
export function requireId(text: string, what: string): string {
  if (isId(text)) return text;
  throw new CandorError(
    "bad-argument",
    `${what} ${JSON.stringify(text.slice(0, 80))} must be 1–${limits.maxIdLength} of A–Z a–z 0–9 _ - and not begin with _; put other text into a display name.`,
    { path: what },
  );
}

/** Zod schemas of the small things that payloads are made of. */
export const id = z.string().regex(idPattern);
/**
 * A name that a person chose: no control characters, at most 128 characters. It is not prose; prose is sealed. A surrogate
 * without its other half has no UTF-8, so that whoever reads the bytes would refuse them.
 */
export const label = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);

/** True for a text that can go onto the wire as a label. */
export function isLabel(text: string): boolean {
  return label.safeParse(text).success;
}

export const count = z.int().nonnegative();
export const number = z.int().positive();
export const milliseconds = z.int().nonnegative();

/** Identifiers that both sides of an effect share: record key, message id, what the downstream returned. */
export const identifiers = z.record(
  label,
  z
    .string()
    .min(1)
    .max(256)
    .regex(/^\P{Cs}*$/u),
);

/** Byte strings of an exact length, or of 1 to `max`. */
export function bytesOf(length: number): z.ZodType<Uint8Array> {
  return z
    .custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === length, `must be ${length} bytes`)
    .meta({ bytes: length });
}
export function bytesUpTo(max: number): z.ZodType<Uint8Array> {
  return z
    .custom<Uint8Array>(
      (value) => value instanceof Uint8Array && value.length > 0 && value.length <= max,
      `must be 1–${max} bytes`,
    )
    .meta({ bytes: max });
}

export const hash32 = bytesOf(32);
export const signature64 = bytesOf(64);
/** Prose under the run's data key: 24-byte nonce and box. Guards never open it. */
export const sealed = bytesUpTo(16 * 1024);
/** A public key as NATS nkey text. */
export const publicKey = z.string().regex(/^[A-Z2-7]{56}$/);
