import { describe, expect, it } from "vitest";
import { encodeVerdictBody, silentLogger } from "@candor/contract";
import { createSeed, createSigner, GuardRecords } from "@candor/ledger";
import { body, operator, signed, subject } from "../../../test/kit/signed-verdict.js";
import type { LogClient, StoredRecord } from "./log-client.js";
import { Memory } from "./memory.js";
import { formatCursor, parseCursor, readVerdicts, type VerdictEntry } from "./verdict-reader.js";

const records = new GuardRecords(operator.publicKey);

const stranger = createSigner(createSeed());

describe("S21 reading verdicts", () => {
  async function read(stream: readonly StoredRecord[], from?: string): Promise<VerdictEntry[]> {
    const client: Pick<LogClient, "records" | "recordAt"> = {
      records: async function* (_filter, { after }) {
        await Promise.resolve();
        yield* stream.filter(({ sequence }) => sequence > after);
      },
      recordAt: (sequence) => Promise.resolve(stream.find((record) => record.sequence === sequence)),
    };
    const memory = await Memory.open(undefined, operator.publicKey, "f1", silentLogger);
    const context = { client: client as LogClient, records, memory, logger: silentLogger, lagMs: 0 };
    const entries: VerdictEntry[] = [];
    const options = from === undefined ? {} : { from };
    for await (const entry of readVerdicts(context, { lane: 3, run: "r1" }, options)) entries.push(entry);
    return entries;
  }

  const stream = [1, 2, 3, 4].map((ordinal) => ({
    sequence: ordinal * 5,
    subject,
    data: signed(encodeVerdictBody({ ...body, ordinal })),
  }));

  it("goes on after any cursor, with each verdict once and in order", async () => {
    const all = await read(stream);
    expect(all.map(({ verdict }) => verdict.ordinal)).toEqual([1, 2, 3, 4]);
    for (const [index, { cursor }] of all.entries()) {
      const rest = await read(stream, cursor);
      expect(rest.map(({ verdict }) => verdict.ordinal)).toEqual([1, 2, 3, 4].slice(index + 1));
    }
  });

  it("passes over a record that no guard signed", async () => {
    const forged = { sequence: 7, subject, data: signed(encodeVerdictBody(body), { signer: stranger }) };
    const entries = await read([...stream, forged].sort((a, b) => a.sequence - b.sequence));
    expect(entries.map(({ sequence }) => sequence)).toEqual([5, 10, 15, 20]);
  });

  it("does not go on in another history", async () => {
    const [first] = await read(stream);
    const cursor = first?.cursor ?? "";
    const other = [{ sequence: 5, subject, data: signed(encodeVerdictBody({ ...body, action: "halt" })) }];
    await expect(read(other, cursor)).rejects.toMatchObject({
      code: "log-rolled-back",
      details: { lane: 3, sequence: 5 },
    });
    await expect(read([], cursor)).rejects.toMatchObject({ code: "log-rolled-back" });
  });

  it.each(["", "5", "5.abc", `0.${"a".repeat(64)}`, `5.${"A".repeat(64)}`])("refuses the cursor %j", (text) => {
    expect(() => parseCursor(text)).toThrow(expect.objectContaining({ code: "bad-argument" }));
  });

  it("reads the cursors that it writes", () => {
    const cursor = { sequence: 9_007_199_254_740_991, hash: "0f".repeat(32) };
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
  });
});
