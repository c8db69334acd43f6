import { createHash, randomUUID } from "node:crypto";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { CandorError, evidenceChunks, evidenceLimits, utf8 } from "@candor/contract";

/** What can be stored: bytes, a text (as UTF-8), or a stream of either. */
export type EvidenceInput = Uint8Array | string | AsyncIterable<Uint8Array | string>;

/** Evidence of known hash, ready to be stored chunk by chunk. */
export interface EvidenceSource {
  /** SHA-256, 32 bytes. */
  readonly hash: Uint8Array;
  /** In bytes. */
  readonly size: number;
  /** @param n 1, 2, … Nothing else is written into it until it is given back. */
  readonly chunk: (n: number) => Promise<Uint8Array>;
  /** Takes a chunk back that is stored, so that its memory serves for another. */
  readonly giveBack: (chunk: Uint8Array) => void;
  /** Gives back what is held. */
  readonly close: () => Promise<void>;
}

function tooLarge(): CandorError {
  const most = evidenceLimits.maxBytes / 1024 / 1024;
  return new CandorError(
    "too-large",
    `A piece of evidence has at most ${most} MiB: store the part that shows it, or several pieces.`,
    { path: "source" },
  );
}

function notBytes(): CandorError {
  return new CandorError("bad-argument", "Evidence is bytes, a text, or a stream of bytes or texts.", {
    path: "source",
  });
}

function fromBytes(bytes: Uint8Array): EvidenceSource {
  if (bytes.length > evidenceLimits.maxBytes) throw tooLarge();
  const hash = new Uint8Array(createHash("sha256").update(bytes).digest());
  const { chunkBytes } = evidenceLimits;
  return {
    hash,
    size: bytes.length,
    chunk: (n) => Promise.resolve(bytes.subarray((n - 1) * chunkBytes, n * chunkBytes)),
    giveBack: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** A file that is nowhere listed: it goes with the process, whatever ends it. */
async function openHidden(dir: string): Promise<FileHandle> {
  const path = join(dir, `evidence-${randomUUID()}`);
  let file: FileHandle;
  try {
    file = await open(path, "wx+", 0o600);
  } catch (cause) {
    throw new CandorError("folder-not-writable", `A stream of evidence is kept in ${dir} at first: make it writable.`, {
      cause,
      path: dir,
    });
  }
  await unlink(path);
  return file;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done)).bytesWritten;
}

/** Spooled to disk while it is hashed, since its subjects name the hash (T2). */
async function fromStream(stream: AsyncIterable<unknown>, dir: string): Promise<EvidenceSource> {
  const file = await openHidden(dir);
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const part of stream) {
      const bytes = typeof part === "string" ? utf8(part) : part;
      if (!(bytes instanceof Uint8Array)) throw notBytes();
      size += bytes.length;
      if (size > evidenceLimits.maxBytes) throw tooLarge();
      hash.update(bytes);
      await writeAll(file, bytes);
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  const { chunkBytes } = evidenceLimits;
  const chunks = evidenceChunks(size);
  const free: Uint8Array[] = [];
  return {
    hash: new Uint8Array(hash.digest()),
    size,
    chunk: async (n) => {
      const whole = free.pop() ?? new Uint8Array(chunkBytes);
      const bytes = n < chunks ? whole : whole.subarray(0, size - (chunks - 1) * chunkBytes);
      for (let done = 0; done < bytes.length;) {
        const { bytesRead } = await file.read(bytes, done, bytes.length - done, (n - 1) * chunkBytes + done);
        if (bytesRead === 0)
          throw new CandorError("bad-file", `The copy of a stream of evidence in ${dir} was cut: store it again.`);
        done += bytesRead;
      }
      return bytes;
    },
    giveBack: (chunk) => {
      if (chunk.length === chunkBytes) free.push(chunk);
    },
    close: () => file.close(),
  };
}

function isStream(input: unknown): input is AsyncIterable<unknown> {
  return typeof input === "object" && input !== null && Symbol.asyncIterator in input;
}

/**
 * Makes evidence ready to be stored. The source must be closed.
 *
 * @param dir folder in which a stream is kept while it is hashed
 * @throws CandorError `too-large` over 64 MiB, as soon as that is known; `bad-argument` for what is no bytes;
 *   `folder-not-writable`; and whatever the stream throws
 */
export async function openEvidenceSource(input: EvidenceInput, dir: string): Promise<EvidenceSource> {
  if (typeof input === "string") return fromBytes(utf8(input));
  if (input instanceof Uint8Array) return fromBytes(input);
  if (isStream(input)) return await fromStream(input, dir);
  throw notBytes();
}
