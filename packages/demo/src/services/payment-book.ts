import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { CandorError } from "@candor/contract";
import { z } from "zod";
import { paymentSchema, type Payment } from "./payment.js";

const entrySchema = z.discriminatedUnion("entry", [
  z.object({ entry: z.literal("accepted"), payment: paymentSchema }),
  z.object({ entry: z.literal("settled"), key: z.string(), state: z.enum(["booked", "declined"]), atMs: z.number() }),
]);
export type BookEntry = Readonly<z.infer<typeof entrySchema>>;

/** All payments by key, in the order they were accepted. */
export type Payments = ReadonlyMap<string, Payment>;

function enter(payments: Map<string, Payment>, entry: BookEntry): void {
  if (entry.entry === "accepted") {
    payments.set(entry.payment.key, entry.payment);
    return;
  }
  const payment = payments.get(entry.key);
  if (payment !== undefined) payments.set(entry.key, { ...payment, state: entry.state, settledAtMs: entry.atMs });
}

export interface PaymentBook {
  payments(): Payments;
  /** Writes the entry, to the disk if there is a file, before it returns. */
  append(entry: BookEntry): void;
  close(): void;
}

/** A book that is gone with the process. */
export function memoryBook(): PaymentBook {
  const payments = new Map<string, Payment>();
  return {
    payments: () => payments,
    append: (entry) => {
      enter(payments, entry);
    },
    close: () => undefined,
  };
}

/**
 * A book kept in a file, one JSON entry a line, only ever added to. A last line without its end is
 * the mark of a process that was killed while it wrote: nobody was told of that entry, so it is cut.
 *
 * @throws CandorError `bad-file` when a complete line is no entry, `folder-not-writable` when the file cannot be opened.
 */
export function fileBook(path: string): PaymentBook {
  const file = openBook(path);
  const bytes = readFileSync(path);
  const complete = bytes.lastIndexOf(0x0a) + 1;
  if (complete < bytes.length) ftruncateSync(file, complete);
  const payments = new Map<string, Payment>();
  for (const entry of readEntries(bytes.toString("utf8", 0, complete), path)) enter(payments, entry);
  return {
    payments: () => payments,
    append: (entry) => {
      writeSync(file, `${JSON.stringify(entry)}\n`);
      fsyncSync(file);
      enter(payments, entry);
    },
    close: () => {
      closeSync(file);
    },
  };
}

function openBook(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (cause) {
    const reason = existsSync(path)
      ? "it is there but cannot be written"
      : "its folder is missing or cannot be written";
    throw new CandorError("folder-not-writable", `payment book ${path}: ${reason}; choose another place`, { cause });
  }
}

function readEntries(text: string, path: string): readonly BookEntry[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line, index) => {
    const entry = entryOf(line);
    if (entry !== undefined) return entry;
    const place = `payment book ${path}, line ${index + 1}`;
    throw new CandorError("bad-file", `${place}: not an entry; restore the file or start with a new one`);
  });
}

function entryOf(line: string): BookEntry | undefined {
  try {
    return entrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
