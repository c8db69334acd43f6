import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { CandorError, evidenceLimits, evidenceSubject, hex, isCandorError } from "@candor/contract";
import { EvidenceBody } from "./evidence-body.js";
import type { EvidencePort } from "./evidence-port.js";
import { openEvidenceSource, type EvidenceInput } from "./evidence-source.js";
import { putEvidence, type StoredEvidence } from "./put-evidence.js";
import { inWindow } from "./window.js";

const { chunkBytes } = evidenceLimits;
const dir = mkdtempSync(join(tmpdir(), "candor-evidence-"));
afterAll(() => {
  rmSync(dir, { recursive: true });
});
const at = { actor: "agent", run: "run-1" };
const label = Uint8Array.of(1);

/** What the server does: each subject is written once. */
function memory(): EvidencePort & { readonly messages: Map<string, Uint8Array> } {
  const messages = new Map<string, Uint8Array>();
  return {
    messages,
    store: async (subject, bytes) => {
      await Promise.resolve();
      const there = messages.get(subject);
      if (there === undefined) messages.set(subject, Uint8Array.from(bytes));
      return there === undefined || Buffer.compare(there, bytes) === 0 ? undefined : there;
    },
    read: async (subject) => {
      await Promise.resolve();
      return messages.get(subject);
    },
  };
}

async function put(port: EvidencePort, input: EvidenceInput): Promise<StoredEvidence> {
  const source = await openEvidenceSource(input, dir);
  try {
    return await putEvidence(port, at, source, label);
  } finally {
    await source.close();
  }
}

/** Sizes around the borders of chunks, and what a stream may be cut into. */
const someBytes = fc
  .record({ chunks: fc.integer({ min: 0, max: 3 }), more: fc.integer({ min: -2, max: 2 }), seed: fc.nat(255) })
  .map(({ chunks, more, seed }) => {
    const size = Math.max(0, chunks * chunkBytes + more);
    return Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed + (i >> 9)) & 255);
  });

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array, void, undefined> {
  let from = 0;
  for (const size of sizes) {
    await Promise.resolve();
    yield bytes.subarray(from, from + size);
    from += size;
  }
  yield bytes.subarray(from);
}

describe("T2 evidence", () => {
  it("comes back as it was stored, whole or as a stream, and is the same however it came", async () => {
    await fc.assert(
      fc.asyncProperty(
        someBytes,
        fc.array(fc.integer({ min: 0, max: 3 * chunkBytes }), { maxLength: 5 }),
        async (bytes, sizes) => {
          const port = memory();
          const stored = await put(port, bytes);
          const messages = port.messages.size;
          expect(await put(port, cut(bytes, sizes))).toEqual(stored);
          expect(port.messages.size).toBe(messages);
          expect(hex(stored.hash)).toBe(createHash("sha256").update(bytes).digest("hex"));
          const body = new EvidenceBody(port, stored);
          expect(Buffer.compare(await body.bytes(), bytes)).toBe(0);
          const parts: Uint8Array[] = [];
          for await (const part of body) parts.push(part);
          expect(Buffer.compare(Buffer.concat(parts), bytes)).toBe(0);
          expect(parts.every((part) => part.length <= chunkBytes)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("a text is its UTF-8", async () => {
    const port = memory();
    expect(await put(port, "né")).toEqual(await put(port, new TextEncoder().encode("né")));
    expect(await new EvidenceBody(port, await put(port, "né")).text()).toBe("né");
  });

  it("nothing that is not those bytes is ever handed out whole", async () => {
    await fc.assert(
      fc.asyncProperty(
        someBytes.filter((bytes) => bytes.length > 0),
        fc.nat(),
        fc.constantFrom("removed", "changed", "cut", "longer", "swapped"),
        async (bytes, which, how) => {
          const port = memory();
          const stored = await put(port, bytes);
          const chunks = port.messages.size - 1;
          const subject = evidenceSubject(stored, 1 + (which % chunks));
          const other = evidenceSubject(stored, 1 + ((which + 1) % chunks));
          const chunk = port.messages.get(subject) ?? new Uint8Array();
          const bend = {
            removed: () => port.messages.delete(subject),
            changed: () => port.messages.set(subject, chunk.with(0, (chunk[0] ?? 0) ^ 1)),
            cut: () => port.messages.set(subject, chunk.subarray(1)),
            longer: () => port.messages.set(subject, new Uint8Array([...chunk, 0])),
            swapped: () => port.messages.set(subject, port.messages.get(other) ?? chunk),
          };
          bend[how]();
          const now = port.messages.get(subject);
          fc.pre(now === undefined || Buffer.compare(now, chunk) !== 0);
          let read = 0;
          const reading = async (): Promise<void> => {
            for await (const part of new EvidenceBody(port, stored)) read += part.length;
          };
          const error: unknown = await reading().catch((cause: unknown) => cause);
          expect(isCandorError(error, how === "removed" ? "evidence-missing" : "evidence-altered")).toBe(true);
          expect(read).toBeLessThan(bytes.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("where something else is stored in its place, nothing is overwritten", async () => {
    const port = memory();
    const source = await openEvidenceSource("honest", dir);
    const subject = evidenceSubject({ ...at, hash: source.hash }, 1);
    port.messages.set(subject, Uint8Array.of(0));
    await expect(putEvidence(port, at, source, label)).rejects.toMatchObject({ code: "evidence-altered" });
    expect(port.messages.get(subject)).toEqual(Uint8Array.of(0));
  });

  it("more than 64 MiB are refused as soon as that is known, and no copy is left", async () => {
    const mib = new Uint8Array(1024 * 1024);
    let asked = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      for (;;) {
        await Promise.resolve();
        asked += 1;
        yield mib;
      }
    };
    await expect(openEvidenceSource(endless(), dir)).rejects.toMatchObject({ code: "too-large", path: "source" });
    expect(asked).toBe(65);
    await expect(openEvidenceSource(new Uint8Array(evidenceLimits.maxBytes + 1), dir)).rejects.toMatchObject({
      code: "too-large",
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each([7, null, undefined, {}, [1]])("%j is no evidence", async (input) => {
    await expect(openEvidenceSource(input as string, dir)).rejects.toMatchObject({ code: "bad-argument" });
  });

  it("a stream of something else, and one that fails", async () => {
    const numbers = (async function* () {
      await Promise.resolve();
      yield 7;
    })();
    await expect(openEvidenceSource(numbers as never, dir)).rejects.toMatchObject({ code: "bad-argument" });
    const failing = (async function* () {
      await Promise.resolve();
      yield "begun";
      throw new RangeError("cut off");
    })();
    await expect(openEvidenceSource(failing, dir)).rejects.toThrow(RangeError);
    await expect(openEvidenceSource(cut(Uint8Array.of(1), []), join(dir, "none"))).rejects.toMatchObject({
      code: "folder-not-writable",
    });
  });
});

describe("a window of work", () => {
  it("keeps the order, and so many under way at most", async () => {
    let underWay = 0;
    let most = 0;
    const results: number[] = [];
    const work = async (n: number): Promise<number> => {
      most = Math.max(most, (underWay += 1));
      await new Promise((resolve) => setTimeout(resolve, n % 3));
      underWay -= 1;
      return n;
    };
    for await (const n of inWindow(30, work)) results.push(n);
    expect(results).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    expect(most).toBe(8);
  });

  it("after a failure begins nothing more, and leaves nothing under way", async () => {
    let begun = 0;
    let ended = 0;
    const work = async (n: number): Promise<number> => {
      begun += 1;
      await new Promise((resolve) => setTimeout(resolve, n));
      ended += 1;
      if (n === 3 || n === 5) throw new CandorError("store-full", "no room");
      return n;
    };
    const all = async (): Promise<void> => {
      for await (const n of inWindow(100, work)) expect(n).toBeLessThan(3);
    };
    await expect(all()).rejects.toMatchObject({ code: "store-full" });
    expect(begun).toBe(10);
    expect(ended).toBe(10);
  });
});
